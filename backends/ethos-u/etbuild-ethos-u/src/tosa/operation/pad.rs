//! PAD: a constant before and behind a tensor along each dimension.
//!
//! Operands: the tensor, the counts before and behind as sizes, and the constant.

use super::Operation;
use crate::tosa::array::{positions, strides};
use crate::tosa::{Array, Code, fields};

/// Padding with a constant.
#[derive(Debug)]
pub struct Pad;

impl Operation for Pad {
    fn code(&self) -> Code {
        fields::PAD
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let [input, counts, constant] = inputs else { return None };
        let counts = counts.as_sizes()?;
        let sides = counts.as_chunks::<2>().0;
        if sides.len() != input.sizes.len() {
            return None;
        }
        let sizes: Vec<usize> =
            input.sizes.iter().zip(sides).map(|(size, [before, behind])| size + before + behind).collect();
        let mut output = Array { numbers: vec![constant.only()?; sizes.iter().product()], sizes, kind: input.kind };
        let strides = strides(&output.sizes);
        for (position, number) in positions(&input.sizes).zip(&input.numbers) {
            let places = position.iter().zip(sides).zip(&strides);
            let flat: usize = places.map(|((place, [before, _]), stride)| (place + before) * stride).sum();
            *output.numbers.get_mut(flat)? = *number;
        }
        Some(output)
    }
}
