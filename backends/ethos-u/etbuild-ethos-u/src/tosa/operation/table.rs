//! TABLE: a function of single int8 numbers. Operands: the tensor, and a result for each of the 256 numbers.

use super::Operation;
use crate::tosa::{Array, Code, Kind, fields};

/// A function.
#[derive(Debug)]
pub struct Table;

impl Operation for Table {
    fn code(&self) -> Code {
        fields::TABLE
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let [input, table] = inputs else { return None };
        if [input.kind, table.kind] != [Kind::Int8; 2] || table.numbers.len() != 256 {
            return None;
        }
        let each = input.numbers.iter().map(|number| table.numbers.get(usize::try_from(number + 128).ok()?).copied());
        Some(Array { kind: Kind::Int8, sizes: input.sizes.clone(), numbers: each.collect::<Option<_>>()? })
    }
}
