//! The ATen program becomes an Edge program.

use std::collections::BTreeSet;
use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{AtenProgram, Dialect, Lowered, Program, ValueKind, text};
use etbuild_pass::Runtime;
use etbuild_store::Value;

use super::{PlanOptions, imported};
use crate::db::{Archive, Db, ModelSource};
use crate::program_artifact;
use crate::stage::{self, Blocked, Stage, StageResult};
use crate::unit::Archives;
use crate::widen::widen;
use crate::{ArtifactKind, failure};

/// The inputs of lowering besides the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LowerOptions {
    /// The runtime that the program is lowered for.
    pub runtime: Runtime,
    /// The names of the state that other methods of the program change: state here too, though this method only reads the state.
    pub shared_state: BTreeSet<String>,
    /// Whether values in fp16 and bf16 are computed in `float32`.
    pub widens_halves: bool,
    /// Whether fp16 and bf16 weights stay, with a node that converts the weights: a quantizer reads such weights directly.
    pub keeps_halves: bool,
}

/// The model's program in operators that have kernels, folded and without dead code. Reads no fact of any
/// target.
#[salsa::tracked(returns(clone))]
pub fn lowered(db: &dyn Db, model: ModelSource, options: LowerOptions) -> StageResult {
    let imported = imported(db, model).map_err(|blocked: Blocked| blocked.downstream())?;
    let program = imported.blob(ArtifactKind::Program)?;
    let names = options.shared_state.iter().map(Value::from).collect();
    let key = Stage::Lower
        .key()
        .input("program", program.digest)
        .option("runtime", options.runtime.name())
        .fact("shared state", Value::List(names))
        .fact("halves stay", options.keeps_halves)
        .fact("halves are widened", options.widens_halves)
        .finish();
    stage::run(db.world(), Stage::Lower, key, |products| {
        let ((_, mut program), mut weights) = program_artifact::load(db.world(), &imported, text::parse)?;
        share(&mut program, &options.shared_state);
        if options.widens_halves {
            let aten = AtenProgram::verify(program).map_err(failure::violations)?;
            program = etbuild_pass::widen_halves(aten).map_err(failure::pass)?.into_program();
        }
        if !options.keeps_halves {
            widen(db.world(), &mut program, &mut weights);
        }
        let aten = AtenProgram::verify(program).map_err(failure::violations)?;
        let mut lowered = etbuild_pass::lower(aten, options.runtime).map_err(failure::pass)?.into_program();
        if !options.keeps_halves {
            widen(db.world(), &mut lowered, &mut weights);
        }
        program_artifact::store(products, &text::print(Lowered::NAME, &lowered), &lowered, &weights);
        Ok(())
    })
}

/// How the archive of `method` is lowered as a part of a program of these methods.
pub fn lower_options(
    db: &dyn Db,
    archives: &Archives,
    method: &str,
    options: &PlanOptions,
) -> Result<LowerOptions, Blocked> {
    let mut shared_state = BTreeSet::new();
    for (_, archive) in archives.iter().filter(|(name, _)| name.as_str() != method) {
        // The methods of a checkpoint change the same.
        let ModelSource::Archive(archive) = archive else { continue };
        let names = state_names(db, *archive).map_err(|blocked: Blocked| blocked.downstream())?;
        shared_state.extend(names.iter().cloned());
    }
    let (is_checkpoint, widens_halves) = match archives.get(method) {
        Some(ModelSource::Archive(archive)) if options.widens_halves => (false, mentions_halves(db, *archive)?),
        // A checkpoint computes in `float32` whatever the type of its weights.
        source => (matches!(source, Some(ModelSource::Checkpoint(..))), false),
    };
    let keeps_halves = is_checkpoint && options.quantize.is_some();
    Ok(LowerOptions { runtime: options.runtime, shared_state, widens_halves, keeps_halves })
}

/// Whether a model has values in half precision: other models have the same key with the option and without.
#[salsa::tracked(returns(clone))]
fn mentions_halves(db: &dyn Db, model: Archive) -> Result<bool, Blocked> {
    let imported = imported(db, ModelSource::Archive(model)).map_err(|blocked: Blocked| blocked.downstream())?;
    let program = db.world().open_blob(&imported.blob(ArtifactKind::Program)?);
    // The text of `bfloat16` has the text of `float16`.
    let name = ScalarType::Half.name().as_bytes();
    Ok(program.windows(name.len()).any(|bytes| bytes == name))
}

/// The names of the values that a model mutates.
#[salsa::tracked(returns(clone))]
fn state_names(db: &dyn Db, model: Archive) -> Result<Arc<BTreeSet<String>>, Blocked> {
    let imported = imported(db, ModelSource::Archive(model))?;
    let program = program_artifact::load(db.world(), &imported, text::parse);
    let ((_, program), _) = program.map_err(|found| Blocked::failed(Stage::Lower, found))?;
    let values = program.methods.values().flat_map(|graph| &graph.values);
    let names = values.filter_map(|value| match &value.kind {
        ValueKind::State { qualified_name, .. } => Some(qualified_name.clone()),
        _ => None,
    });
    Ok(Arc::new(names.collect()))
}

/// Makes constants of these names state.
fn share(program: &mut Program, names: &BTreeSet<String>) {
    for value in program.methods.values_mut().flat_map(|graph| &mut graph.values) {
        if let ValueKind::Constant { qualified_name, data } = &value.kind
            && names.contains(qualified_name)
        {
            value.kind = ValueKind::State { qualified_name: qualified_name.clone(), initial: data.clone() };
        }
    }
}
