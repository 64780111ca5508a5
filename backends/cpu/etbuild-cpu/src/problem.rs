//! Why a partition was not lowered.

use etbuild_backend::{Refusal, RefusalKind};

/// Why a partition was not lowered. The capabilities refuse what leads here, so it is met by other shapes than theirs only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A node reads what no node before it computes.
    #[error("a value is read before it is computed")]
    Order,
    /// A node has other arguments than its operator's schema.
    #[error("a call does not have the arguments of its schema")]
    Arguments,
    /// No rule lowers the operator.
    #[error("there is no rule for an operator")]
    Operator,
    /// More dimensions, operands or bytes than an instruction holds.
    #[error("a call is larger than an instruction")]
    Large,
    /// Weights could not be packed.
    #[error("weights could not be packed")]
    Weights,
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::new(RefusalKind::Partition, problem.to_string())
    }
}
