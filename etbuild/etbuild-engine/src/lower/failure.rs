//! Errors of the passes as diagnostics.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_pass::{PassError, Reason, Refusal};

use crate::failure::{decompose, violations};

/// A program cannot be lowered. Each refused call is a separate finding.
pub fn pass(error: PassError) -> Vec<Diagnostic> {
    match error {
        PassError::Refused(refusals) => refusals.iter().map(refusal).collect(),
        PassError::Invalid { violations: found, .. } => violations(found),
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
