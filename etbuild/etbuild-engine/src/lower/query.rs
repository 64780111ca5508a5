//! The ATen program becomes an Edge program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use et_core::ScalarType;
use etbuild_diagnostic::Diagnostic;
use etbuild_ir::{AtenProgram, Dialect, Lowered, Program, ValueKind, text};
use etbuild_pass::{FrontEnd, Runtime};
use etbuild_store::{KeyBuilder, Value};

use super::widen;
use crate::action::program::{self, StoredProgram};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::failure;
use crate::import::imported;
use crate::input::{Archive, Db, ModelSource};
use crate::pipeline::Stage;

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
    /// The inputs that the program gets in another form than the model, by name.
    pub front_ends: BTreeMap<String, FrontEnd>,
    /// The seed of random operators.
    pub seed: u64,
}

impl Keyed for LowerOptions {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { runtime, shared_state, widens_halves, keeps_halves, front_ends, seed } = self;
        let key = key
            .option("runtime", runtime.name())
            .fact("shared state", Value::List(shared_state.iter().map(Value::from).collect()))
            .fact("halves stay", *keeps_halves)
            .fact("halves are widened", *widens_halves)
            .option("inputs", front_ends_value(front_ends));
        if *seed == 0 { key } else { key.option("seed", seed.to_string()) }
    }
}

/// Front ends in a key.
pub fn front_ends_value(front_ends: &BTreeMap<String, FrontEnd>) -> Value {
    // The derived text has all fields.
    Value::List(front_ends.iter().map(|(name, front_end)| Value::from(format!("{name} {front_end:?}"))).collect())
}

/// The model's program in operators that have kernels, folded and without dead code. Reads no fact of any
/// target.
#[salsa::tracked(returns(clone))]
pub fn lowered(db: &dyn Db, model: ModelSource, options: LowerOptions) -> StageResult {
    let imported = imported(db, model).map_err(|blocked: Blocked| blocked.downstream())?;
    action::run(db, &Lower { program: StoredProgram::of(imported)?, options })
}

/// Lowering.
struct Lower {
    program: StoredProgram,
    options: LowerOptions,
}

impl Keyed for Lower {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { program, options } = self;
        options.key(program.key(key))
    }
}

impl Action for Lower {
    const STAGE: Stage = Stage::Lower;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let LowerOptions { runtime, shared_state, widens_halves, keeps_halves, front_ends, seed } = &self.options;
        let ((_, mut program), mut weights) = self.program.load(db.world(), text::parse)?;
        share(&mut program, shared_state);
        if *widens_halves {
            let aten = AtenProgram::verify(program).map_err(failure::violations)?;
            program = etbuild_pass::widen_halves(aten).map_err(super::failure::pass)?.into_program();
        }
        if !keeps_halves {
            widen(db.world(), &mut program, &mut weights);
        }
        let aten = AtenProgram::verify(program).map_err(failure::violations)?;
        let aten = etbuild_pass::with_front_ends(aten, front_ends).map_err(super::failure::front_end)?;
        let mut lowered = etbuild_pass::lower(aten, *runtime).map_err(super::failure::pass)?;
        // ExecuTorch's runtime has no kernels that take a state.
        if *runtime == Runtime::Etbuild {
            lowered = etbuild_pass::with_random_state(lowered, *seed).map_err(super::failure::pass)?;
        }
        let mut lowered = lowered.into_program();
        if !keeps_halves {
            widen(db.world(), &mut lowered, &mut weights);
        }
        program::store(products, &text::print(Lowered::NAME, &lowered), &lowered, &weights);
        Ok(())
    }
}

/// Whether a model has values in half precision: other models have the same key with the option and without.
#[salsa::tracked(returns(clone))]
pub fn mentions_halves(db: &dyn Db, model: Archive) -> Result<bool, Blocked> {
    let imported = imported(db, ModelSource::Archive(model)).map_err(|blocked: Blocked| blocked.downstream())?;
    let program = db.world().open_blob(&imported.blob(ArtifactKind::Program)?);
    // The text of `bfloat16` has the text of `float16`.
    let name = ScalarType::Half.name().as_bytes();
    Ok(program.windows(name.len()).any(|bytes| bytes == name))
}

/// The names of the values that a model mutates.
#[salsa::tracked(returns(clone))]
pub fn state_names(db: &dyn Db, model: Archive) -> Result<Arc<BTreeSet<String>>, Blocked> {
    let imported = imported(db, ModelSource::Archive(model))?;
    let program = program::load(db.world(), &imported, text::parse);
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
