//! Parts of the lowered program become calls of engines.

use etbuild_backend::{Backend, TargetFacts};
use etbuild_ir::{Dialect, Lowered, LoweredProgram, text};
use etbuild_partition::{Partitioned, partition};
use etbuild_store::Value;

use super::quantize::lowered_or_quantized;
use super::{LowerOptions, PlanOptions, QuantizeOptions, lower_options, prepared};
use crate::db::{Db, ModelSource};
use crate::engine_report::EngineReport;
use crate::engine_weights::EngineWeights;
use crate::partition_report::NodePlace;
use crate::stage::{self, Blocked, Stage, StageResult};
use crate::unit::Archives;
use crate::world::World;
use crate::{ArtifactKind, failure, program_artifact};

/// The backends of a program, in order, with the options.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionOptions {
    /// The engines' names in the order of preference, without the portable kernels.
    pub engines: Vec<String>,
    /// The target in the form for backends.
    pub target: TargetFacts,
}

impl PartitionOptions {
    /// The engines themselves.
    pub fn backends(&self, world: &World) -> Result<Vec<&'static dyn Backend>, Blocked> {
        let find = |name: &String| {
            let unknown = || Blocked::failed(Stage::Delegate, failure::internal(&format!("unknown backend `{name}`")));
            world.engine(name).ok_or_else(unknown)
        };
        self.engines.iter().map(find).collect()
    }
}

/// The program of a method before planning: lowered, perhaps quantized, with calls of backends.
pub fn finished(
    db: &dyn Db,
    archives: &Archives,
    (method, archive): (&str, ModelSource),
    options: &PlanOptions,
) -> StageResult {
    if options.partition.engines.is_empty() {
        return prepared(db, archives, (method, archive), options);
    }
    delegated(db, archives, (method, archive), options)
}

/// The same where no engine is named too: every node is told to be with the portable kernels.
pub fn delegated(
    db: &dyn Db,
    archives: &Archives,
    (method, archive): (&str, ModelSource),
    options: &PlanOptions,
) -> StageResult {
    let lower = lower_options(db, archives, method, options)?;
    partitioned(db, archive, lower, options.quantize.clone(), options.partition.clone())
}

/// The program with partitions as calls of backends, and the backend of every node. Reads the facts of the target that
/// the backends declare: targets with equal facts share the program.
#[salsa::tracked(returns(clone))]
fn partitioned(
    db: &dyn Db,
    model: ModelSource,
    lower: LowerOptions,
    quantize: Option<QuantizeOptions>,
    partitioning: PartitionOptions,
) -> StageResult {
    let lowered = lowered_or_quantized(db, model, lower, quantize);
    let lowered = lowered.map_err(|blocked: Blocked| blocked.downstream())?;
    let backends = partitioning.backends(db.world())?;
    let mut key = Stage::Delegate.key().input("program", lowered.blob(ArtifactKind::Program)?.digest);
    for backend in &backends {
        key = key
            .option("engine", backend.name())
            .fact("revision", backend.revision())
            .fact("facts", facts(*backend, &partitioning.target));
    }
    stage::run(db.world(), Stage::Delegate, key.finish(), |products| {
        let ((_, program), mut weights) = program_artifact::load(db.world(), &lowered, text::parse)?;
        let program = LoweredProgram::verify(program).map_err(failure::violations)?;
        let keep = EngineWeights::new(db.world(), revisions(&backends));
        let done = partition(program, &backends, &partitioning.target, &keep).map_err(failure::violations)?;
        weights.extend(keep.into_weights());
        let Partitioned { program, report, layers, origins } = done;
        let printed = text::print(Lowered::NAME, program.program());
        program_artifact::store(products, &printed, program.program(), &weights);
        let report: Vec<NodePlace> = report.iter().map(NodePlace::from).collect();
        products.put(ArtifactKind::Partition, &failure::json(&report)?);
        products.put(ArtifactKind::Engines, &failure::json(&EngineReport::new(layers, &origins))?);
        Ok(())
    })
}

/// The backends, each with a revision: packed weights and reports are valid for that revision.
pub fn revisions(backends: &[&'static dyn Backend]) -> String {
    backends.iter().map(|backend| format!("{} {}\n", backend.name(), backend.revision())).collect()
}

fn facts(backend: &dyn Backend, target: &TargetFacts) -> Value {
    let facts = backend.facts(target).into_iter();
    Value::List(facts.map(|(name, value)| Value::List(vec![(&name).into(), (&value).into()])).collect())
}
