//! REDUCE_MAX and REDUCE_SUM: the greatest number and the sum along an axis, whose size becomes 1.

use super::{Operation, Value};
use crate::tosa::array::within;
use crate::tosa::{Array, Code, Field, Kind, fields};

/// The greatest number.
#[derive(Debug)]
pub struct ReduceMax {
    pub axis: usize,
}

/// The sum of int32 numbers.
#[derive(Debug)]
pub struct ReduceSum {
    pub axis: usize,
}

impl Operation for ReduceMax {
    fn code(&self) -> Code {
        fields::REDUCE_MAX
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        let axis = (fields::AXIS, Value::Integer(self.axis as i32));
        vec![axis, (fields::REDUCE_NAN_MODE, Value::Number(fields::PROPAGATE))]
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        reduced(inputs.first()?, self.axis, |numbers| numbers.max())
    }
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
        reduced(input, self.axis, |numbers| within(Kind::Int32, numbers.sum()))
    }
}

fn reduced(input: &Array, axis: usize, each: impl Fn(&mut dyn Iterator<Item = i64>) -> Option<i64>) -> Option<Array> {
    let mut sizes = input.sizes.clone();
    let length = std::mem::replace(sizes.get_mut(axis)?, 1);
    let inner: usize = sizes.get(axis + 1..)?.iter().product();
    let outer: usize = sizes.get(..axis)?.iter().product();
    let rows = (0..outer).flat_map(|row| (0..inner).map(move |column| row * length * inner + column));
    let numbers =
        rows.map(|start| each(&mut (0..length).filter_map(|step| input.numbers.get(start + step * inner).copied())));
    Some(Array { kind: input.kind, numbers: numbers.collect::<Option<_>>()?, sizes })
}
