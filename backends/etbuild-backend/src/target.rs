//! The target facts that a backend may read.

/// The target facts that a backend may read.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetFacts {
    /// The first part of the target triple, without a version: `x86_64`, `aarch64`, `thumb`.
    pub architecture: String,
    /// The instruction sets among which the binary selects at run time, such as `avx2` or `i8mm`, sorted and unique. A
    /// device may lack any instruction set of the list.
    pub features: Vec<String>,
    /// Whether the target has an operating system.
    pub hosted: bool,
}

impl TargetFacts {
    /// Whether the binary may use this instruction set on a device that supports it.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|have| have == feature)
    }
}
