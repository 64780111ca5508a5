//! Errors of lowering.

use etbuild_backend::{ArgumentError, Refusal, RefusalKind};
use etbuild_cpu_weights::NotPacked;

/// An error of lowering a partition. The capability check refuses such nodes, so only shapes unknown to the check cause errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A node reads a value that no earlier node computes.
    #[error("a value is read before it is computed")]
    Order,
    /// A node's arguments disagree with the operator's schema.
    #[error("a call does not have the arguments of its schema")]
    Arguments,
    /// No rule lowers the operator.
    #[error("there is no rule for an operator")]
    Operator,
    /// A call exceeds the dimensions, operands or bytes of an instruction.
    #[error("a call is larger than an instruction")]
    Large,
    /// Programs at different sizes differ in more than sizes.
    #[error("its instructions do not follow from the sizes of its inputs")]
    Sizes,
    /// Weights could not be packed.
    #[error("weights could not be packed")]
    Weights,
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::new(RefusalKind::Partition, problem.to_string())
    }
}

impl From<NotPacked> for Problem {
    fn from(_: NotPacked) -> Self {
        Self::Weights
    }
}

impl From<ArgumentError> for Problem {
    fn from(_: ArgumentError) -> Self {
        Self::Arguments
    }
}
