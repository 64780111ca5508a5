//! SLICE: a part of a tensor. Operands: the tensor, the start and the size along each dimension.

use super::Operation;
use crate::tosa::array::{positions, strides};
use crate::tosa::{Array, Code, fields};

/// A part.
#[derive(Debug)]
pub struct Slice;

impl Operation for Slice {
    fn code(&self) -> Code {
        fields::SLICE
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let [input, start, sizes] = inputs else { return None };
        let (start, sizes, strides) = (start.as_sizes()?, sizes.as_sizes()?, strides(&input.sizes));
        let ends = start.iter().zip(&sizes).map(|(start, size)| start + size);
        if start.len() != input.sizes.len() || !ends.zip(&input.sizes).all(|(end, size)| end <= *size) {
            return None;
        }
        let numbers = positions(&sizes).map(|position| {
            let places = position.iter().zip(&start).zip(&strides);
            input.numbers.get(places.map(|((place, start), stride)| (place + start) * stride).sum::<usize>()).copied()
        });
        Some(Array { kind: input.kind, numbers: numbers.collect::<Option<_>>()?, sizes })
    }
}
