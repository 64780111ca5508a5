//! The dialect of Core ATen operators.

use crate::{Dialect, OperatorName, Program, Violation};

/// Operators with PyTorch's core tag, operators of the kernel catalogue, custom operators, primitives, and higher-order operators.
#[derive(Clone, Copy, Debug)]
pub enum CoreAten {}

/// An operator per line, sorted. `generate_core_aten.py` writes the list from PyTorch's tags.
const CORE_OPERATORS: &str = include_str!("core_aten.txt");

impl Dialect for CoreAten {
    const NAME: &'static str = "core-aten";

    fn violations(program: &Program) -> Vec<Violation> {
        super::operators(program, |operator| {
            (!Self::contains(operator))
                .then(|| "the operator is neither in Core ATen nor in the kernel catalogue".to_owned())
        })
    }
}

impl CoreAten {
    /// Whether the operator may stay without decomposition.
    pub fn contains(operator: &OperatorName) -> bool {
        operator.runs_graphs()
            || operator.is_custom()
            || operator.primitive().is_some()
            || CORE_OPERATORS.lines().any(|line| line == operator.as_str())
            || et_ops::find_functional(&operator.qualified()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convolution_is_core_and_conv2d_is_not() {
        assert!(CoreAten::contains(&OperatorName::aten("convolution", "default")));
        assert!(!CoreAten::contains(&OperatorName::aten("conv2d", "default")));
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(CORE_OPERATORS.lines().filter(|line| !line.starts_with('#')).is_sorted());
    }
}
