//! Errors of the memory planner as diagnostics.

use et_core::ScalarType;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_memory::{LiveTensor, MemoryError};

use super::{Need, what_fits as hint};

/// A program has no memory plan.
pub fn memory(error: MemoryError) -> Vec<Diagnostic> {
    let message = error.to_string();
    vec![match error {
        MemoryError::DoesNotFit { peak, need, .. } => {
            let largest = peak.iter().map(|tensor| format!("`{}` takes {} bytes", tensor.name, tensor.bytes));
            let diagnostic = Diagnostic::error(Code::BankTooSmall, message);
            largest.fold(diagnostic, Diagnostic::note).help(what_fits(&peak, need))
        }
        MemoryError::StateDiffers { .. } => Diagnostic::error(Code::StateDiffers, message)
            .help("state of the same name is shared: make it the same in all methods, or rename one of them"),
        _ => Diagnostic::error(Code::PlanInvalid, message),
    }]
}

/// What would fit instead: `float32` tensors in int8, or another board.
fn what_fits(peak: &[LiveTensor], need: u64) -> String {
    let quantizable = peak.iter().filter(|tensor| tensor.scalar_type == ScalarType::Float);
    let saved = quantizable.map(|tensor| tensor.bytes - tensor.bytes / 4).sum();
    hint(Need { constants: 0, tensors: need }, saved)
}
