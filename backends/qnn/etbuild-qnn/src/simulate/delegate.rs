//! The simulation as a delegate of this machine's runtime: programs whose partitions it executes need neither a kit nor an NPU.

use std::cell::OnceCell;

use et_core::{Args, Error, Result};
use et_problem::{Problem, report};
use et_runtime::{Delegate, DelegateSetup, Workers};

use super::call::Simulated;

/// The delegate id in program files.
pub const ID: &str = "EtbuildQnnSimulation";

/// The delegate of a blob.
struct Simulation {
    partition: OnceCell<Simulated>,
}

/// A delegate that computes the graphs of its blob by the rules of the simulation. The words of a failure are in [`et_problem::problem()`].
pub fn delegate(_workers: &dyn Workers) -> impl Delegate<'_> {
    Simulation { partition: OnceCell::new() }
}

impl<'a> Delegate<'a> for Simulation {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let partition = postcard::from_bytes(setup.blob).map_err(|error| Problem::blob(error.to_string()));
        let simulated = report(partition.and_then(Simulated::of))?;
        self.partition.set(simulated).map_err(|_| Error::InvalidState)
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let simulated = self.partition.get().ok_or(Error::DelegateInvalidHandle)?;
        report(simulated.execute(arguments))
    }
}
