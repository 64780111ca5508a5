//! Errors of stages as diagnostics. Each stage's crate says what is wrong; the code and the way out are added here.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::Violation;

/// A verifier refused a program that one of our stages made.
pub fn violations(violations: Vec<Violation>) -> Vec<Diagnostic> {
    violations.into_iter().map(|violation| Diagnostic::error(Code::ProgramInvalid, violation.to_string())).collect()
}
