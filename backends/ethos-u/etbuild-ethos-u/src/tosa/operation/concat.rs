//! CONCAT: tensors behind each other along an axis.

use super::{Operation, Value};
use crate::tosa::{Array, Code, Field, fields};

/// The axis.
#[derive(Debug)]
pub struct Concat {
    pub axis: usize,
}

impl Operation for Concat {
    fn code(&self) -> Code {
        fields::CONCAT
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        vec![(fields::AXIS, Value::Integer(self.axis as i32))]
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let first = inputs.first()?;
        let mut sizes = first.sizes.clone();
        *sizes.get_mut(self.axis)? = inputs.iter().map(|input| input.sizes.get(self.axis)).sum::<Option<_>>()?;
        let outer: usize = sizes.get(..self.axis)?.iter().product();
        let mut numbers = Vec::new();
        for row in 0..outer {
            for input in inputs {
                let length = input.numbers.len() / outer.max(1);
                numbers.extend_from_slice(input.numbers.get(row * length..(row + 1) * length)?);
            }
        }
        let fits = numbers.len() == sizes.iter().product::<usize>();
        fits.then_some(Array { kind: first.kind, sizes, numbers })
    }
}
