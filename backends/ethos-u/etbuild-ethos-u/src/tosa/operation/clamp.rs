//! CLAMP: limits int8 numbers.

use super::{Operation, Value};
use crate::tosa::{Array, Code, Field, Kind, fields};

/// The limits.
#[derive(Debug)]
pub struct Clamp {
    pub least: i8,
    pub most: i8,
}

impl Operation for Clamp {
    fn code(&self) -> Code {
        fields::CLAMP
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        let bytes = |number: i8| Value::Bytes(vec![number.cast_unsigned()]);
        vec![
            (fields::clamp::LEAST, bytes(self.least)),
            (fields::clamp::MOST, bytes(self.most)),
            (fields::clamp::NAN_MODE, Value::Number(fields::PROPAGATE)),
        ]
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let (least, most) = (i64::from(self.least), i64::from(self.most));
        let input = inputs.first().filter(|input| input.kind == Kind::Int8 && least <= most)?;
        input.map(Kind::Int8, |number| number.clamp(least, most))
    }
}
