//! The delegate on hosts: the model of the NPU executes the command streams of program files.

use et_core::Result;
use et_ethos_u::{Blob, Engine, Execute};
use et_problem::{Problem, report};
use et_runtime::{Delegate, Workers};
use etbuild_ethos_u_model::{Memory, execute};

/// The model of the NPU that a blob is for.
struct Model;

static MODEL: Model = Model;

impl Execute for Model {
    fn execute(&self, blob: &Blob<'_>, scratch: &mut [u8]) -> Result<()> {
        let executed = execute(blob.commands(), blob.header().config, &mut Memory::of(blob.weights(), scratch));
        report(executed.map(drop).map_err(|fault| Problem::blob(fault.to_string())))
    }
}

/// The delegate for program files, also for those that nobody vouches for: a command stream that the NPU cannot execute is an error.
pub fn delegate(_workers: &dyn Workers) -> impl Delegate<'_> {
    Engine::executed_by(&MODEL)
}
