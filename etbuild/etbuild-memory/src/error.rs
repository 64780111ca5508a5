//! Why a program has no memory plan.

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
    /// Two methods have state of the same name that is not the same.
    #[error("state `{name}` of methods `{}` and `{}` has another type, shape or first value in one than in the other", .methods[0], .methods[1])]
    StateDiffers {
        /// The qualified name.
        name: String,
        /// The methods.
        methods: [String; 2],
    },
    /// The values do not fit in any bank.
    #[error(
        "method `{method}` needs {need} bytes in memory bank `{bank}`, which has {size}; largest at the peak: {}",
        largest(.peak)
    )]
    DoesNotFit {
        /// The method.
        method: String,
        /// The last bank in the order of preference.
        bank: String,
        /// Bytes that the bank would have to have for what the banks before it have no room for.
        need: u64,
        /// Bytes that it has.
        size: u64,
        /// Of these values, those in use when most bytes are, largest first.
        peak: Vec<LiveTensor>,
    },
    /// A planner made a plan that breaks a rule.
    #[error("planner `{planner}` made a plan that breaks a rule: {}", all(.violations))]
    Unsound {
        /// The planner.
        planner: &'static str,
        /// The breaches.
        violations: Vec<Violation>,
    },
}

/// A value that needs memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveTensor {
    /// Its name.
    pub name: String,
    /// The number of its bytes.
    pub bytes: u64,
}

/// How many values a message names.
const NAMED: usize = 3;

fn all(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn largest(peak: &[LiveTensor]) -> String {
    let named = peak.iter().take(NAMED).map(|tensor| format!("`{}` ({} bytes)", tensor.name, tensor.bytes));
    named.collect::<Vec<_>>().join(", ")
}
