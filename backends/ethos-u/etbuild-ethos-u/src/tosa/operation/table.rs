//! TABLE: a function of single numbers. Operands: the tensor, and the table.
//!
//! A table of int8 has a result for each of the 256 numbers. A table of int16 has 513 entries: the upper nine bits of a number select an
//! entry, and the lower seven bits interpolate to the next; the int32 result has seven fractional bits.

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
        let entry = |index: i64| table.numbers.get(usize::try_from(index).ok()?).copied();
        let byte = |number: i64| entry(number + 128);
        let word = |number: i64| {
            let (index, part) = ((number + 32_768) >> 7, number & 127);
            let (base, next) = (entry(index)?, entry(index + 1)?);
            Some((base << 7) + (next - base) * part)
        };
        let (kind, numbers): (_, Option<Vec<i64>>) = match (input.kind, table.kind, table.numbers.len()) {
            (Kind::Int8, Kind::Int8, 256) => (Kind::Int8, input.numbers.iter().map(|number| byte(*number)).collect()),
            (Kind::Int16, Kind::Int16, 513) => {
                (Kind::Int32, input.numbers.iter().map(|number| word(*number)).collect())
            }
            _ => return None,
        };
        Some(Array { kind, sizes: input.sizes.clone(), numbers: numbers? })
    }
}
