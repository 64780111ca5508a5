//! RESHAPE: the same elements in other sizes, the second operand.

use super::Operation;
use crate::tosa::{Array, Code, fields};

/// Other sizes.
#[derive(Debug)]
pub struct Reshape;

impl Operation for Reshape {
    fn code(&self) -> Code {
        fields::RESHAPE
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let [input, sizes] = inputs else { return None };
        let sizes = sizes.as_sizes()?;
        let fits = sizes.iter().product::<usize>() == input.numbers.len();
        fits.then(|| Array { kind: input.kind, sizes, numbers: input.numbers.clone() })
    }
}
