//! Every value gets its place in memory.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{LoweredProgram, text};
use etbuild_memory::{Bank, Options, find_planner};
use etbuild_pass::Runtime;
use etbuild_store::Value;

use super::lowered;
use crate::db::{DataFile, Db};
use crate::program_artifact;
use crate::stage::{self, Blocked, Stage, StageResult};
use crate::{ArtifactKind, failure};

/// What lowering and planning read beside the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanOptions {
    /// The runtime that the program is lowered for.
    pub runtime: Runtime,
    /// The planner's name.
    pub planner: &'static str,
    /// The banks that may hold tensors, in the order of preference: name and bytes, where there is a limit.
    pub banks: Vec<(String, Option<u64>)>,
}

/// The model's program with a plan for these banks. Targets with the same banks share it.
#[salsa::tracked(returns(clone))]
pub fn planned(db: &dyn Db, model: DataFile, options: PlanOptions) -> StageResult {
    let lowered = lowered(db, model, options.runtime).map_err(|blocked: Blocked| blocked.downstream())?;
    let program = lowered.blob(ArtifactKind::Program)?;
    let key = Stage::Plan
        .key()
        .input("program", program.digest)
        .option("memory.planner", options.planner)
        .fact("banks", banks(&options))
        .finish();
    stage::run(db.world(), Stage::Plan, key, |products| {
        let ((_, program), weights) = program_artifact::load(db.world(), &lowered, text::parse)?;
        let lowered = LoweredProgram::verify(program).map_err(failure::violations)?;
        let planned = etbuild_memory::plan(lowered, &memory_options(&options)?).map_err(failure::memory)?;
        program_artifact::store(products, &text::print_plan(&planned), planned.program().program(), &weights);
        Ok(())
    })
}

fn memory_options(options: &PlanOptions) -> Result<Options, Vec<Diagnostic>> {
    let unknown = || vec![Diagnostic::error(Code::Internal, format!("no planner is called `{}`", options.planner))];
    let planner = find_planner(options.planner).ok_or_else(unknown)?;
    let banks = options.banks.iter().map(|(name, size)| Bank { size: *size, ..Bank::unlimited(name.as_str()) });
    Ok(Options { planner, banks: banks.collect() })
}

fn banks(options: &PlanOptions) -> Value {
    let banks = options.banks.iter().map(|(name, size)| Value::List(vec![name.into(), (*size).into()]));
    Value::List(banks.collect())
}
