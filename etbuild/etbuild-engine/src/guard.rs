//! The edge at which unwinding ends.

use std::panic::{self, AssertUnwindSafe};

use etbuild_diagnostic::{Code, Diagnostic};

use crate::stage::Transient;

/// Runs `work`; what unwinds out of it becomes a value. salsa's own unwinding, of a query that waited for one that was
/// interrupted on another thread, counts as interrupted too.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Transient> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Transient>() {
        Ok(transient) => *transient,
        Err(payload) if payload.is::<salsa::Cancelled>() => Transient::Elsewhere,
        Err(_) => Transient::Environment(Box::new(Diagnostic::error(Code::Internal, "etbuild panicked"))),
    })
}
