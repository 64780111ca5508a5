//! What a backend may know of a target.

/// What a backend may know of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetFacts {
    /// The first part of the target triple, without a version: `x86_64`, `aarch64`, `thumb`.
    pub architecture: String,
    /// The instruction sets that the binary may choose among at run time, such as `avx2` or `i8mm`: sorted, none twice.
    /// The machine may lack any of them.
    pub features: Vec<String>,
    /// Whether the target has an operating system.
    pub hosted: bool,
}

impl TargetFacts {
    /// Whether the binary may use this instruction set where the machine has it.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|have| have == feature)
    }
}
