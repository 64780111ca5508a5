//! REDUCE_SUM: the sum along an axis, whose size becomes 1.

use super::{Operation, Value};
use crate::tosa::array::within;
use crate::tosa::{Array, Code, Field, Kind, fields};

/// The sum of int32 numbers.
#[derive(Debug)]
pub struct ReduceSum {
    pub axis: usize,
}

impl Operation for ReduceSum {
    fn code(&self) -> Code {
        fields::REDUCE_SUM
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        vec![(fields::AXIS, Value::Integer(self.axis as i32))]
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let input = inputs.first().filter(|input| input.kind == Kind::Int32)?;
        let mut sizes = input.sizes.clone();
        let length = std::mem::replace(sizes.get_mut(self.axis)?, 1);
        let inner: usize = sizes.get(self.axis + 1..)?.iter().product();
        let outer: usize = sizes.get(..self.axis)?.iter().product();
        let rows = (0..outer).flat_map(|row| (0..inner).map(move |column| row * length * inner + column));
        let sum = |start: usize| (0..length).filter_map(|step| input.numbers.get(start + step * inner)).sum();
        let numbers = rows.map(|start| within(Kind::Int32, sum(start)));
        Some(Array { kind: Kind::Int32, numbers: numbers.collect::<Option<_>>()?, sizes })
    }
}
