//! Errors of memory planning.

use et_core::ScalarType;
use etbuild_ir::Violation;

/// Why a program has no memory plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The options name no bank.
    #[error("there is no memory bank for the values of the program")]
    NoBank,
    /// A bank's alignment is 0.
    #[error("the alignment of memory bank `{bank}` is 0")]
    Alignment {
        /// The bank.
        bank: String,
    },
    /// Two methods declare the state of one name differently.
    #[error("state `{name}` of methods `{}` and `{}` has another type, shape or first value in one than in the other", .methods[0], .methods[1])]
    StateDiffers {
        /// The qualified name of the state.
        name: String,
        /// The two methods.
        methods: [String; 2],
    },
    /// Some values fit in no bank.
    #[error(
        "method `{method}` needs {need} bytes in memory bank `{bank}`, which has {size}; largest at the peak: {}",
        largest(.peak)
    )]
    DoesNotFit {
        /// The method.
        method: String,
        /// The last bank in order of preference.
        bank: String,
        /// The bytes that the bank would need for the values that the earlier banks have no room for.
        need: u64,
        /// The size of the bank in bytes.
        size: u64,
        /// The values of this bank that are in use at the peak, largest first.
        peak: Vec<LiveTensor>,
    },
    /// The layout of a planner breaks a rule of memory plans.
    #[error("planner `{planner}` made a plan that breaks a rule: {}", all(.violations))]
    Unsound {
        /// The planner.
        planner: &'static str,
        /// The broken rules.
        violations: Vec<Violation>,
    },
}

/// A value that needs memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveTensor {
    /// The name of the value.
    pub name: String,
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size in bytes.
    pub bytes: u64,
}

/// The number of values that a message names.
const NAMED: usize = 3;

fn all(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn largest(peak: &[LiveTensor]) -> String {
    let named = peak.iter().take(NAMED).map(|tensor| format!("`{}` ({} bytes)", tensor.name, tensor.bytes));
    named.collect::<Vec<_>>().join(", ")
}
