//! The definition of a primitive: an operator on numbers, or between tensors and control flow.

use et_core::{Error, Kernel};

use crate::CaseArgument;

/// A primitive. Unlike an [`crate::Operator`], a primitive has no out tensor: its kernel writes the result to the slot
/// of the last argument.
#[derive(Debug)]
pub struct Primitive {
    /// The schema, as ExecuTorch registers it: `executorch_prim::add.Scalar(Scalar a, Scalar b) -> Scalar`.
    pub schema: &'static str,
    /// The name in exported programs: `_operator.add`, `aten::sym_size.int`. Several primitives may share a name; calls
    /// resolve to the first in the list. Empty for primitives that only a compiler emits.
    pub exported: &'static str,
    /// The path of the kernel in Rust; the kernel is not generic.
    pub path: &'static str,
    /// The kind of value that the kernel writes to the result slot.
    pub result: PrimitiveResult,
    /// The kernel: arguments in schema order, then the result's slot.
    pub kernel: Kernel,
    /// Arguments with Python's results.
    pub cases: &'static [PrimitiveCase],
}

/// The kind of a primitive's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimitiveResult {
    /// An integer.
    Int,
    /// A floating-point number.
    Double,
    /// A boolean.
    Bool,
    /// A floating-point number if any argument from this position on is a floating-point number, else an integer.
    Promoted(usize),
    /// A number of the kind of the first argument's elements.
    Element,
    /// No number: a tensor argument is written or moved.
    Tensor,
}

/// A call with a known outcome.
#[derive(Debug)]
pub struct PrimitiveCase {
    /// The arguments in schema order.
    pub arguments: &'static [CaseArgument],
    /// The number or the error.
    pub outcome: Result<CaseArgument, Error>,
}

impl Primitive {
    /// The number of arguments before the slot of the result.
    pub fn in_count(&self) -> usize {
        let arguments = self.schema.split_once('(').map_or("", |(_, rest)| rest);
        arguments.rsplit_once(") ->").map_or(0, |(arguments, _)| arguments.split(',').count())
    }

    /// The registered name: the schema without the argument list.
    pub fn name(&self) -> &'static str {
        self.schema.split_once('(').map_or(self.schema, |(name, _)| name)
    }
}

impl PrimitiveCase {
    /// A call that gives a number.
    pub const fn gives(arguments: &'static [CaseArgument], number: CaseArgument) -> Self {
        Self { arguments, outcome: Ok(number) }
    }

    /// A call that is refused.
    pub const fn refused(arguments: &'static [CaseArgument], error: Error) -> Self {
        Self { arguments, outcome: Err(error) }
    }
}
