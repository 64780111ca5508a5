//! ADD, SUB, MUL, MAXIMUM: arithmetic on int32 tensors of one rank, where a size of 1 is repeated.

use super::{Operation, Value};
use crate::tosa::array::{positions, strides, within};
use crate::tosa::{Array, Code, Field, Kind, fields};

/// The sum.
#[derive(Debug)]
pub struct Add;

/// The difference.
#[derive(Debug)]
pub struct Sub;

/// The product; the third operand, a shift of the product, must be 0.
#[derive(Debug)]
pub struct Mul;

/// The greater number.
#[derive(Debug)]
pub struct Maximum;

impl Operation for Add {
    fn code(&self) -> Code {
        fields::ADD
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        pairs(inputs, |left, right| left + right)
    }
}

impl Operation for Sub {
    fn code(&self) -> Code {
        fields::SUB
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        pairs(inputs, |left, right| left - right)
    }
}

impl Operation for Mul {
    fn code(&self) -> Code {
        fields::MUL
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let shift = inputs.get(2)?.only()?;
        pairs(inputs, |left, right| left * right).filter(|_| shift == 0)
    }
}

impl Operation for Maximum {
    fn code(&self) -> Code {
        fields::MAXIMUM
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        vec![(fields::MAXIMUM_NAN_MODE, Value::Number(fields::PROPAGATE))]
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        pairs(inputs, i64::max)
    }
}

fn pairs(inputs: &[&Array], each: fn(i64, i64) -> i64) -> Option<Array> {
    let [left, right, ..] = inputs else { return None };
    let pairs = left.sizes.iter().zip(&right.sizes);
    let fits = pairs.clone().all(|(left, right)| left == right || *left == 1 || *right == 1);
    if !fits || left.sizes.len() != right.sizes.len() || [left, right].iter().any(|side| side.kind != Kind::Int32) {
        return None;
    }
    let sizes: Vec<usize> = pairs.map(|(left, right)| *left.max(right)).collect();
    let numbers = positions(&sizes).map(|position| {
        let [left, right] = [left, right].map(|side| repeated(side, &position));
        within(Kind::Int32, each(left?, right?))
    });
    Some(Array { kind: Kind::Int32, numbers: numbers.collect::<Option<_>>()?, sizes })
}

/// The element at a position, where a size of 1 is repeated.
fn repeated(side: &Array, position: &[usize]) -> Option<i64> {
    let places = position.iter().zip(&side.sizes).zip(strides(&side.sizes));
    let flat: usize = places.map(|((place, size), stride)| if *size == 1 { 0 } else { place * stride }).sum();
    side.numbers.get(flat).copied()
}
