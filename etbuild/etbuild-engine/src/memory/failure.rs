//! Errors of the memory planner as diagnostics.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_memory::MemoryError;

/// A program has no memory plan.
pub fn memory(error: MemoryError) -> Vec<Diagnostic> {
    let message = error.to_string();
    vec![match error {
        MemoryError::DoesNotFit { peak, .. } => {
            let largest = peak.iter().map(|tensor| format!("`{}` takes {} bytes", tensor.name, tensor.bytes));
            let diagnostic = Diagnostic::error(Code::BankTooSmall, message);
            let help = "choose a target with more memory, or make the model's activations smaller";
            largest.fold(diagnostic, Diagnostic::note).help(help)
        }
        MemoryError::StateDiffers { .. } => Diagnostic::error(Code::StateDiffers, message)
            .help("state of the same name is shared: make it the same in all methods, or rename one of them"),
        _ => Diagnostic::error(Code::PlanInvalid, message),
    }]
}
