//! The edge at which unwinding ends.

use std::panic::{self, AssertUnwindSafe};

use etbuild_diagnostic::{Code, Diagnostic};

use super::{Transient, World};

/// Runs `work`; what unwinds out of it becomes a value. salsa's own unwinding, of a query that waited for one that was
/// interrupted on another thread, counts as interrupted too.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Transient> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Transient>() {
        Ok(transient) => *transient,
        Err(payload) if payload.is::<salsa::Cancelled>() => Transient::Elsewhere,
        Err(_) => Transient::Environment(Box::new(Diagnostic::error(Code::Internal, "etbuild panicked"))),
    })
}

/// The outcome of `first`; where an artifact was lost, the outcome of `again`, which begins with an empty database. If another
/// artifact is lost, a third time without the remote cache, which may lack many of the promised artifacts.
pub fn or_again<T>(
    world: &World,
    first: Result<T, Transient>,
    again: impl Fn() -> Result<T, Transient>,
) -> Result<T, Transient> {
    let is_lost = |outcome: &Result<T, Transient>| outcome.as_ref().is_err_and(Transient::is_worth_a_retry);
    if !is_lost(&first) {
        return first;
    }
    let second = again();
    match world.remote() {
        Some(remote) if is_lost(&second) => {
            remote.stop_reading();
            again()
        }
        _ => second,
    }
}
