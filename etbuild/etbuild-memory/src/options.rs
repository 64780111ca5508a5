//! What the user chooses: the planner and the banks.

use crate::Planner;

/// The alignment of tensors in ExecuTorch's runtime, in bytes.
pub const DEFAULT_ALIGNMENT: u64 = 16;

/// Options of memory planning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The planner that lays out each bank.
    pub planner: &'static dyn Planner,
    /// The banks for values, in order of preference.
    pub banks: Vec<Bank>,
}

/// A memory bank of the target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    /// The name in the target's description.
    pub name: String,
    /// The bytes available for values; `None` for an unlimited bank.
    pub size: Option<u64>,
    /// The alignment of every value, in bytes.
    pub alignment: u64,
}

impl Bank {
    /// An unlimited bank with [`DEFAULT_ALIGNMENT`].
    pub fn unlimited(name: impl Into<String>) -> Self {
        Self { name: name.into(), size: None, alignment: DEFAULT_ALIGNMENT }
    }
}
