//! Errors of the passes as diagnostics.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_pass::{FrontEndError, PassError, Reason, Refusal};

use crate::failure::{decompose, violations};

/// A program cannot be lowered. Each refused call is a separate finding.
pub fn pass(error: PassError) -> Vec<Diagnostic> {
    match error {
        PassError::Refused(refusals) => refusals.iter().map(refusal).collect(),
        PassError::Invalid { violations: found, .. } => violations(found),
    }
}

/// An input that cannot have its front end.
pub fn front_end(error: FrontEndError) -> Vec<Diagnostic> {
    match error {
        FrontEndError::Pass(error) => pass(error),
        FrontEndError::Misfit(message) => {
            vec![Diagnostic::error(Code::InputsMismatch, message).help(
                "change the keys of the input in `inputs:`; `etbuild inspect MODEL` shows the inputs of the model",
            )]
        }
    }
}

/// A call that no pass and no kernel can deal with.
pub fn refusal(refusal: &Refusal) -> Diagnostic {
    let diagnostic = |code| Diagnostic::error(code, refusal.to_string());
    match refusal.reason {
        Reason::NoDecomposition | Reason::NoKernel => {
            diagnostic(Code::OperatorUnavailable).help(decompose(&refusal.operator))
        }
        Reason::NotUpstream => diagnostic(Code::OperatorNotUpstream).help(
            "leave `runtime: executorch` out, or replace the operator in the model by others that compute the same",
        ),
        Reason::NoKernelForType(_) => diagnostic(Code::DtypeUnavailable),
        _ => diagnostic(Code::ArgumentUnsupported),
    }
}
