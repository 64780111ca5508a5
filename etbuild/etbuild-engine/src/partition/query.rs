//! Parts of the lowered program become calls of engines.

use etbuild_backend::{Backend, Refusal, RefusalKind, TargetFacts};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Dialect, Lowered, text};
use etbuild_partition::{Partitioned, partition};
use etbuild_store::{Digest, KeyBuilder, Value};

use super::report::CallMemory;
use super::weights::EngineWeights;
use super::{EngineReport, NodePlace};
use crate::action::program::{self, StoredProgram};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::failure;
use crate::input::{Db, ModelSource};
use crate::lower::LowerOptions;
use crate::pipeline::Stage;
use crate::quantize::QuantizeOptions;
use crate::quantize::lowered_or_quantized;
use crate::session::{Transient, World, interrupt};

/// The backends of a program, in order, with the options.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionOptions {
    /// The engines' names in the order of preference, without the portable kernels.
    pub engines: Vec<String>,
    /// The target in the form for backends.
    pub target: TargetFacts,
    /// The digests of the vendors' compilers that engines load, by the engine's name.
    pub compilers: Vec<(String, Digest)>,
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

/// The program with partitions as calls of backends, and the backend of every node. Backends read the memory of a board only where a call
/// does not fit: boards share the program otherwise.
#[salsa::tracked(returns(clone))]
pub fn partitioned(
    db: &dyn Db,
    model: ModelSource,
    lower: LowerOptions,
    quantize: Option<QuantizeOptions>,
    partitioning: PartitionOptions,
) -> StageResult {
    let Some(memory) = partitioning.target.memory else {
        return delegated(db, model, lower, quantize, partitioning);
    };
    let target = TargetFacts { memory: None, ..partitioning.target.clone() };
    let anywhere = PartitionOptions { target, ..partitioning.clone() };
    let staged = delegated(db, model, lower.clone(), quantize.clone(), anywhere)?;
    let report: EngineReport = staged.json(db.world(), ArtifactKind::Engines)?;
    if report.memory.iter().all(|call| call.fits(memory)) {
        return Ok(staged);
    }
    delegated(db, model, lower, quantize, partitioning)
}

/// The program for these facts of the target. Reads those that the backends declare: targets with equal facts share the program.
#[salsa::tracked(returns(clone))]
fn delegated(
    db: &dyn Db,
    model: ModelSource,
    lower: LowerOptions,
    quantize: Option<QuantizeOptions>,
    partitioning: PartitionOptions,
) -> StageResult {
    let lowered = lowered_or_quantized(db, model, lower, quantize);
    let lowered = lowered.map_err(|blocked: Blocked| blocked.downstream())?;
    let backends = Backends::of(&partitioning, db.world())?;
    action::run(db, &Delegate { program: StoredProgram::of(lowered)?, backends })
}

/// What an action reads of a target: the facts for lowering, or those for joining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// [`Backend::facts`].
    Lower,
    /// [`Backend::join_facts`].
    Join,
}

/// What lowering reads besides programs, as the input of an action.
#[derive(Clone)]
pub(super) struct Backends {
    /// Which facts of the target are read.
    reads: Reads,
    /// The backends in order.
    pub list: Vec<&'static dyn Backend>,
    /// The target.
    pub target: TargetFacts,
    compilers: Vec<(String, Digest)>,
}

impl Backends {
    /// The backends of the options.
    pub fn of(options: &PartitionOptions, world: &World) -> Result<Self, Blocked> {
        let list = options.backends(world)?;
        let PartitionOptions { engines: _, target, compilers } = options.clone();
        Ok(Self { reads: Reads::Lower, list, target, compilers })
    }

    /// One backend of the options.
    pub fn of_one(options: &PartitionOptions, backend: &'static dyn Backend, reads: Reads) -> Self {
        let PartitionOptions { engines: _, target, compilers } = options.clone();
        Self { reads, list: vec![backend], target, compilers }
    }
}

impl Keyed for Backends {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { reads, list, target, compilers } = self;
        list.iter().fold(key, |key, backend| {
            let compiler = compilers.iter().find(|(engine, _)| engine == backend.name());
            key.option("engine", backend.name())
                .fact("revision", backend.revision())
                .fact("compiler", compiler.map_or_else(String::new, |(_, digest)| digest.to_string()).as_str())
                .fact("facts", facts(&reads.of(*backend, target)))
        })
    }
}

/// Partitioning.
struct Delegate {
    program: StoredProgram,
    backends: Backends,
}

impl Keyed for Delegate {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { program, backends } = self;
        backends.key(program.key(key))
    }
}

impl Action for Delegate {
    const STAGE: Stage = Stage::Delegate;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (program, mut weights) = self.program.lowered(db.world())?;
        let Backends { list, target, .. } = &self.backends;
        let keep = EngineWeights::new(db.world(), revisions(list));
        let done = partition(program, list, target, &keep).map_err(failure::violations)?;
        let refusals = done.report.iter().flat_map(|node| &node.refusals);
        refusals.for_each(|(backend, refusal)| keep_nothing_of_a_failed_machine(backend, refusal));
        weights.extend(keep.into_weights());
        let Partitioned { program, report, layers, stored, devices, origins } = done;
        let memory = CallMemory::of(&program);
        let printed = text::print(Lowered::NAME, program.program());
        program::store(products, &printed, program.program(), &weights);
        let report: Vec<NodePlace> = report.iter().map(NodePlace::from).collect();
        products.put(ArtifactKind::Partition, &failure::json(&report)?);
        let engines = EngineReport::new(layers, &stored, devices, &origins, memory);
        products.put(ArtifactKind::Engines, &failure::json(&engines)?);
        Ok(())
    }
}

/// Ends the stage where a backend refused because of the machine: the next run may get another result.
pub fn keep_nothing_of_a_failed_machine(backend: &str, refusal: &Refusal) {
    if refusal.kind == RefusalKind::Machine {
        let message = format!("backend `{backend}` could not compile a partition: {}", refusal.reason);
        interrupt(Transient::Environment(Box::new(
            Diagnostic::error(Code::RunFailed, message).help("run the command again"),
        )))
    }
}

/// The backends, each with a revision: packed weights and reports are valid for that revision.
pub fn revisions(backends: &[&'static dyn Backend]) -> String {
    backends.iter().map(|backend| format!("{} {}\n", backend.name(), backend.revision())).collect()
}

fn facts(facts: &[(String, String)]) -> Value {
    Value::List(facts.iter().map(|(name, value)| Value::List(vec![name.into(), value.into()])).collect())
}

impl Reads {
    fn of(self, backend: &dyn Backend, target: &TargetFacts) -> Vec<(String, String)> {
        match self {
            Self::Lower => backend.facts(target),
            Self::Join => backend.join_facts(target),
        }
    }
}
