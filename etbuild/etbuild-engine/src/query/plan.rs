//! Memory planning.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{LoweredProgram, Program, text};
use etbuild_memory::{Bank, DEFAULT_ALIGNMENT, Options, find_planner};
use etbuild_pass::Runtime;
use etbuild_store::Value;

use super::{PartitionOptions, QuantizeOptions, finished};
use crate::db::{Db, ModelSource};
use crate::program_artifact::{self, Weights};
use crate::stage::{self, Blocked, Stage, StageResult, Staged};
use crate::unit::Archives;
use crate::{ArtifactKind, failure};

/// The inputs of lowering and planning besides the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanOptions {
    /// The runtime that the program is lowered for.
    pub runtime: Runtime,
    /// Whether half precision is computed in `float32`.
    pub widens_halves: bool,
    /// How weights and activations are made smaller; not at all where absent.
    pub quantize: Option<QuantizeOptions>,
    /// The planner's name.
    pub planner: &'static str,
    /// The banks that may hold tensors, in the order of preference: name and bytes, where the bank has a limit.
    pub banks: Vec<(String, Option<u64>)>,
    /// The backends that get partitions.
    pub partition: PartitionOptions,
}

/// The program of all methods with a plan for these banks. Targets with the same banks share the plan.
#[salsa::tracked(returns(clone))]
pub fn planned(db: &dyn Db, archives: Archives, options: PlanOptions) -> StageResult {
    let lowered = finished_methods(db, &archives, &options)?;
    let mut key = Stage::Plan.key();
    for (method, staged) in &lowered {
        let program = staged.blob(ArtifactKind::Program)?;
        key = key.option("method", method.as_str()).input("program", program.digest);
    }
    let key = key
        .option("memory.planner", options.planner)
        .fact("banks", banks(&options))
        .fact("alignment", alignment(&options))
        .finish();
    stage::run(db.world(), Stage::Plan, key, |products| {
        let (program, weights) = join(db, &lowered)?;
        let lowered = LoweredProgram::verify(program).map_err(failure::violations)?;
        let planned = etbuild_memory::plan(lowered, &memory_options(&options)?).map_err(failure::memory)?;
        program_artifact::store(products, &text::print_plan(&planned), planned.program().program(), &weights);
        Ok(())
    })
}

/// The program of each method, lowered, perhaps quantized, with calls of backends.
fn finished_methods(
    db: &dyn Db,
    archives: &Archives,
    options: &PlanOptions,
) -> Result<BTreeMap<String, Arc<Staged>>, Blocked> {
    let prepare = |(method, archive): (&String, &ModelSource)| {
        let staged = finished(db, archives, (method, *archive), options).map_err(|blocked| blocked.downstream())?;
        Ok((method.clone(), staged))
    };
    archives.iter().map(prepare).collect()
}

/// One program of several: an archive has one method, which gets the name in the recipe.
fn join(db: &dyn Db, lowered: &BTreeMap<String, Arc<Staged>>) -> Result<(Program, Weights), Vec<Diagnostic>> {
    let (mut joined, mut weights) = (Program::default(), Weights::default());
    for (method, staged) in lowered {
        let ((_, program), stored) = program_artifact::load(db.world(), staged, text::parse)?;
        weights.extend(stored);
        let graph =
            program.methods.into_values().next().ok_or_else(|| failure::internal("an archive has no method"))?;
        joined.methods.insert(method.clone(), graph);
    }
    Ok((joined, weights))
}

fn memory_options(options: &PlanOptions) -> Result<Options, Vec<Diagnostic>> {
    let unknown = || vec![Diagnostic::error(Code::Internal, format!("no planner is called `{}`", options.planner))];
    let planner = find_planner(options.planner).ok_or_else(unknown)?;
    let banks = options.banks.iter().map(|(name, size)| Bank {
        name: name.clone(),
        size: *size,
        alignment: alignment(options),
    });
    Ok(Options { planner, banks: banks.collect() })
}

/// The alignment of values: backends get cache lines.
fn alignment(options: &PlanOptions) -> u64 {
    let engines = options.partition.target.hosted && !options.partition.engines.is_empty();
    if engines { etbuild_backend::ALIGNMENT as u64 } else { DEFAULT_ALIGNMENT }
}

fn banks(options: &PlanOptions) -> Value {
    let banks = options.banks.iter().map(|(name, size)| Value::List(vec![name.into(), (*size).into()]));
    Value::List(banks.collect())
}
