//! Kernels that a program needs and the catalogue lacks.

use std::fmt::Write;

/// A kernel that the catalogue cannot give.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingKernel {
    /// The operator's name.
    pub operator: String,
    /// The types that the program needs and the operator lacks; empty where the operator itself is missing.
    pub dtypes: Vec<&'static str>,
    /// The types that the operator has.
    pub available: Vec<&'static str>,
}

impl std::fmt::Display for MissingKernel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.available.is_empty() {
            return write!(formatter, "`{}` has no kernel", self.operator);
        }
        let (lacking, available) = (self.dtypes.join(", "), self.available.join(", "));
        write!(formatter, "`{}` has no kernel for {lacking}; it has {available}", self.operator)
    }
}

/// The sentences of `missing`, separated by semicolons.
pub fn list(missing: &[MissingKernel]) -> String {
    missing.iter().fold(String::new(), |mut text, kernel| {
        let separator = if text.is_empty() { "" } else { "; " };
        let _ = write!(text, "{separator}{kernel}");
        text
    })
}
