//! Errors of the emitter as diagnostics.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_emit::EmitError;

use crate::session::{Transient, interrupt};

/// No program file was written. A write that fails is the machine's fault and is tried again another time.
pub fn emit(error: EmitError) -> Vec<Diagnostic> {
    let message = error.to_string();
    match error {
        EmitError::Write(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            interrupt(Transient::Environment(Box::new(Diagnostic::error(Code::DiskFull, message))))
        }
        EmitError::OperatorMissing(_) => vec![Diagnostic::error(Code::OperatorUnavailable, message)],
        EmitError::Write(_) => {
            interrupt(Transient::Environment(Box::new(Diagnostic::error(Code::StoreUnavailable, message))))
        }
        _ => vec![Diagnostic::error(Code::ProgramInvalid, message)],
    }
}
