//! Failures of the engine as diagnostics. The failures of a stage are in the stage's folder.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{OperatorName, Violation};
use serde::Serialize;

/// The alternatives to an operator without a kernel.
pub fn decompose(operator: &str) -> String {
    let operator = operator.trim_start_matches("torch.ops.");
    let is_custom = OperatorName::parse(operator).is_some_and(|operator| operator.is_custom());
    let own = "name a crate with the operator in the recipe, `operators: [FOLDER]` (`etbuild init operators FOLDER` writes one), ";
    format!(
        "{}end the model ahead of the operator, or decompose the operator into known operators ahead of `torch.export.save`:\n  \
         program = program.run_decompositions({{torch.ops.{operator}: function}})",
        if is_custom { own } else { "" }
    )
}

/// A verifier refused a program of an etbuild stage.
pub fn violations(violations: Vec<Violation>) -> Vec<Diagnostic> {
    violations.into_iter().map(|violation| Diagnostic::error(Code::ProgramInvalid, violation.to_string())).collect()
}

/// A value of ours as JSON.
pub fn json(value: &impl Serialize) -> Result<Vec<u8>, Vec<Diagnostic>> {
    serde_json::to_vec(value).map_err(|error| vec![Diagnostic::error(Code::Internal, error.to_string())])
}

/// An internal rule is broken.
pub fn internal(message: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::Internal, message)]
}

/// A file that was there before cannot be read any more.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::FileUnreadable, format!("`{}` cannot be read: {error}", path.display()))]
}
