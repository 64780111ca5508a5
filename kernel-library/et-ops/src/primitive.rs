//! What a primitive is: an operator that a program calls on numbers, or to move between tensors and control flow.

use et_core::{Error, Kernel};

use crate::CaseArgument;

/// One entry of the list of primitives. Unlike an [`crate::Operator`], it has no out tensor: the last argument of its kernel is the
/// slot that it writes its result to.
#[derive(Debug)]
pub struct Primitive {
    /// The schema, as ExecuTorch registers it: `executorch_prim::add.Scalar(Scalar a, Scalar b) -> Scalar`.
    pub schema: &'static str,
    /// What an exported program calls it: `_operator.add`, `aten::sym_size.int`. Several primitives may share a name, of
    /// which the first in the list is the one to call; empty for what only a compiler makes.
    pub exported: &'static str,
    /// The path of the kernel in Rust; it is not generic.
    pub path: &'static str,
    /// What it leaves in the slot of its result.
    pub result: PrimitiveResult,
    /// The kernel: arguments in schema order, then the result's slot.
    pub kernel: Kernel,
    /// Arguments with what Python computes from them.
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
    /// A floating-point number if any argument from this position on is one, else an integer.
    Promoted(usize),
    /// A number of the kind of the first argument's elements.
    Element,
    /// No number: a tensor argument is written or moved.
    Tensor,
}

/// One call with a known outcome.
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

    /// The registered name: the schema up to its argument list.
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
