//! The source of a program: the model of each method, and the options of the stages before memory planning.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_pass::{FrontEnd, Runtime};
use serde::de::DeserializeOwned;

use crate::action::program::{StoredMethods, StoredProgram};
use crate::action::{ArtifactKind, Blocked, StageResult};
use crate::input::{Db, ModelSource};
use crate::lower::{self, LowerOptions, mentions_halves, state_names};
use crate::partition::{self, EngineReport, NodePlace, PartitionOptions};
use crate::pipeline::Stage;
use crate::quantize::{self, MeasureOptions, QuantizeOptions, lowered_or_quantized};

/// The model of each method of a program, by the method's name.
pub type Archives = BTreeMap<String, ModelSource>;

/// The inputs of a program before memory planning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProgramSource {
    /// The model of each method.
    pub archives: Archives,
    /// The runtime that the program is lowered for.
    pub runtime: Runtime,
    /// Whether half precision is computed in `float32`.
    pub widens_halves: bool,
    /// The inputs that the program gets in another form than the model, by name.
    pub front_ends: BTreeMap<String, FrontEnd>,
    /// The seed of random operators.
    pub seed: u64,
    /// The quantization of weights and activations, if any.
    pub quantize: Option<QuantizeOptions>,
    /// The backends that get partitions.
    pub partition: PartitionOptions,
}

impl ProgramSource {
    /// The lowered program of a method.
    pub fn lowered(&self, db: &dyn Db, method: &str) -> StageResult {
        lower::lowered(db, self.model(method)?, self.lower_options(db, method)?)
    }

    /// The program of a method before partitioning: lowered, and quantized where the recipe asks for quantization.
    pub fn prepared(&self, db: &dyn Db, method: &str) -> StageResult {
        lowered_or_quantized(db, self.model(method)?, self.lower_options(db, method)?, self.quantize.clone())
    }

    /// The loss of quantization in a method; `None` without quantization.
    pub fn measured(&self, db: &dyn Db, method: &str, measure: &MeasureOptions) -> Option<StageResult> {
        let quantize = self.quantize.clone()?;
        let measured = |lower| quantize::measured(db, self.model(method)?, lower, quantize, measure.clone());
        Some(self.lower_options(db, method).and_then(measured))
    }

    /// The program of a method with calls of backends, and with the report on every node.
    pub fn partitioned(&self, db: &dyn Db, method: &str) -> StageResult {
        let (lower, quantize) = (self.lower_options(db, method)?, self.quantize.clone());
        partition::partitioned(db, self.model(method)?, lower, quantize, self.partition.clone())
    }

    /// The program of a method before planning: partitioned where the recipe names backends.
    pub fn finished(&self, db: &dyn Db, method: &str) -> StageResult {
        if self.partition.engines.is_empty() { self.prepared(db, method) } else { self.partitioned(db, method) }
    }

    /// The program of all methods before planning. A backend that joins partitions has compiled those of all methods together.
    pub fn methods(&self, db: &dyn Db) -> Result<StoredMethods, Blocked> {
        let finished = |method: &String| Ok((method.clone(), StoredProgram::of(self.finished(db, method)?)?));
        let programs = self.archives.keys().map(finished).collect::<Result<Vec<_>, Blocked>>()?;
        let methods = StoredMethods::apart(programs);
        let joins = self.partition.backends(db.world())?.iter().any(|backend| backend.joins());
        if !joins {
            return Ok(methods);
        }
        let joined = partition::joined(db, methods, &self.partition)?;
        StoredProgram::of(joined).map(StoredMethods::together)
    }

    /// Where the nodes of all methods run.
    pub fn nodes(&self, db: &dyn Db) -> Result<Vec<NodePlace>, Blocked> {
        let found = self.of_methods::<Vec<NodePlace>>(db, ArtifactKind::Partition)?;
        let placed = |(method, nodes): (String, Vec<NodePlace>)| {
            nodes.into_iter().map(move |node| NodePlace { method: method.clone(), ..node })
        };
        Ok(found.into_iter().flat_map(placed).collect())
    }

    /// The reports of backends on each method.
    pub fn engine_reports(&self, db: &dyn Db) -> Result<Vec<(String, EngineReport)>, Blocked> {
        self.of_methods(db, ArtifactKind::Engines)
    }

    /// An artifact of the partitioned program of each method.
    fn of_methods<T: DeserializeOwned>(&self, db: &dyn Db, kind: ArtifactKind) -> Result<Vec<(String, T)>, Blocked> {
        let of_method = |method: &String| {
            let found = self.partitioned(db, method)?.json(db.world(), kind)?;
            Ok((method.clone(), found))
        };
        self.archives.keys().map(of_method).collect()
    }

    /// How a method is lowered as a part of the program.
    pub fn lower_options(&self, db: &dyn Db, method: &str) -> Result<LowerOptions, Blocked> {
        let mut shared_state = BTreeSet::new();
        for (_, model) in self.archives.iter().filter(|(name, _)| name.as_str() != method) {
            // The methods of a checkpoint change the same state.
            let ModelSource::Archive(archive) = model else { continue };
            let names = state_names(db, *archive).map_err(|blocked: Blocked| blocked.downstream())?;
            shared_state.extend(names.iter().cloned());
        }
        let (is_checkpoint, widens_halves) = match self.archives.get(method) {
            Some(ModelSource::Archive(archive)) if self.widens_halves => (false, mentions_halves(db, *archive)?),
            // The graph of a checkpoint computes in `float32`, also with 16-bit weights.
            source => (matches!(source, Some(ModelSource::Checkpoint(..))), false),
        };
        let keeps_halves = is_checkpoint && self.quantize.is_some();
        let (front_ends, seed) = (self.front_ends.clone(), self.seed);
        Ok(LowerOptions { runtime: self.runtime, shared_state, widens_halves, keeps_halves, front_ends, seed })
    }

    fn model(&self, method: &str) -> Result<ModelSource, Blocked> {
        let missing = || Blocked::internal(Stage::Import, "a program has no such method");
        self.archives.get(method).copied().ok_or_else(missing)
    }
}
