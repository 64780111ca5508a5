//! TRANSPOSE: dimensions in another order.

use super::{Operation, Value};
use crate::tosa::array::{positions, strides};
use crate::tosa::{Array, Code, Field, fields};

/// The dimension of the operand that each dimension of the result is.
#[derive(Debug)]
pub struct Transpose {
    pub order: Vec<usize>,
}

impl Operation for Transpose {
    fn code(&self) -> Code {
        fields::TRANSPOSE
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        let order = self.order.iter().map(|dim| *dim as i32).collect();
        vec![(fields::PERMUTATION, Value::Integers(order))]
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let input = inputs.first()?;
        let all = strides(&input.sizes);
        let sizes: Vec<usize> = self.order.iter().map(|dim| input.sizes.get(*dim).copied()).collect::<Option<_>>()?;
        let strides: Vec<usize> = self.order.iter().map(|dim| all.get(*dim).copied()).collect::<Option<_>>()?;
        let numbers = positions(&sizes).map(|position| {
            let places = position.iter().zip(&strides).map(|(place, stride)| place * stride);
            input.numbers.get(places.sum::<usize>()).copied()
        });
        Some(Array { kind: input.kind, numbers: numbers.collect::<Option<_>>()?, sizes })
    }
}
