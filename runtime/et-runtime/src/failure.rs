//! An error with its position in the method.

use et_core::Error;

/// A failure of loading or executing a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The error.
    pub error: Error,
    /// Where.
    pub place: Place,
}

/// The part of a method that a failure belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The method as a whole: its inputs, memory or tables.
    Method,
    /// A slot of the value table.
    Value(u32),
    /// A delegate.
    Delegate(u32),
    /// An instruction, counted over all chains.
    Instruction(u32),
}

impl Place {
    /// Wraps an error that happened here.
    pub const fn failure(self, error: Error) -> Failure {
        Failure { error, place: self }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Place::Method.failure(error)
    }
}
