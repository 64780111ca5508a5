//! The backend as a delegate.

use core::cell::OnceCell;

use et_core::{Args, Error, Result};
use et_runtime::{Delegate, DelegateSetup, Workers};

use crate::session::Session;
use et_problem::report;

/// The delegate of a blob.
struct Npu {
    session: OnceCell<Session>,
}

/// A delegate that executes its blob on the NPU, which needs none of the caller's threads. The words of a failure are in
/// [`et_problem::problem()`].
pub fn delegate(_workers: &dyn Workers) -> impl Delegate<'_> {
    Npu { session: OnceCell::new() }
}

/// The number of the graph that the delegate executes.
fn graph(setup: &DelegateSetup<'_>) -> Result<usize> {
    for index in 0..setup.compile_specs.len() {
        let spec = setup.compile_specs.get(index)?;
        if spec.key()? == "graph" {
            let bytes = spec.value()?.try_into().map_err(|_| Error::InvalidProgram)?;
            return Ok(u32::from_le_bytes(bytes) as usize);
        }
    }
    Ok(0)
}

impl<'a> Delegate<'a> for Npu {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let session = report(Session::load(setup.blob, graph(setup)?))?;
        self.session.set(session).map_err(|_| Error::InvalidState)
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let session = self.session.get().ok_or(Error::DelegateInvalidHandle)?;
        report(session.execute(arguments))
    }
}
