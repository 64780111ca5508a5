//! The planned program becomes a program file.

use std::collections::BTreeMap;
use std::io::Write;

use etbuild_backend::Backend;
use etbuild_diagnostic::Diagnostic;
use etbuild_emit::{ConstantMethod, ConstantOutputs, ConstantScalar, DataFiles, EmitOptions, Emitted};
use etbuild_ir::{PlannedProgram, text};
use etbuild_recipe::{FixedScalar, FixedValue};
use etbuild_store::{KeyBuilder, Value};

use super::Interface;
use super::pipeline_files::{PipelineFiles, PipelineOptions};
use super::reading::{Reading, ReadingOptions};
use super::texts::CheckpointTexts;
use crate::action::program::StoredProgram;
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::input::{CheckpointFolder, Db, fixed_value};
use crate::memory::planned;
use crate::partition::revisions;
use crate::pipeline::Stage;
use crate::program_source::ProgramSource;
use crate::{PRODUCER, failure};

/// The parts of a program file besides the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileOptions {
    /// Methods that return fixed values.
    pub constants: BTreeMap<String, FixedValue>,
    /// Whether constants go to a data file.
    pub external_weights: bool,
    /// Whether the weights of an adapter go to a separate file.
    pub adapter: bool,
    /// The checkpoint with the tokenizer.
    pub texts: Option<CheckpointFolder>,
    /// Preprocessing of inputs, and names of classes.
    pub reading: ReadingOptions,
    /// The pipeline that makes pictures.
    pub pipeline: Option<PipelineOptions>,
}

/// The program file, the data files if any, and the interface for the link.
#[salsa::tracked(returns(clone))]
pub fn emitted(db: &dyn Db, program: ProgramSource, memory: etbuild_memory::Options, file: FileOptions) -> StageResult {
    let backends = program.partition.backends(db.world())?;
    let planned = planned(db, program, memory).map_err(|blocked: Blocked| blocked.downstream())?;
    let FileOptions { constants, external_weights, adapter, texts, reading, pipeline } = file;
    let failed = |error| Blocked::failed(Stage::Emit, [error]);
    let texts = texts.map(|folder| CheckpointTexts::of(db, folder)).transpose().map_err(failed)?;
    let reading = Reading::of(db, reading).map_err(failed)?;
    let pipeline = pipeline.map(|options| PipelineFiles::of(db, options)).transpose().map_err(failed)?;
    let program = StoredProgram::of(planned)?;
    action::run(db, &Emit { program, backends, constants, external_weights, adapter, texts, reading, pipeline })
}

/// Emission.
struct Emit {
    program: StoredProgram,
    backends: Vec<&'static dyn Backend>,
    constants: BTreeMap<String, FixedValue>,
    external_weights: bool,
    adapter: bool,
    texts: Option<CheckpointTexts>,
    reading: Reading,
    pipeline: Option<PipelineFiles>,
}

impl Keyed for Emit {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { program, backends, constants, external_weights, adapter, texts, reading, pipeline } = self;
        let key = program
            .key(key)
            .option("producer", PRODUCER)
            .option("export.constants", fixed_values(constants))
            .option("export.weights.external", *external_weights)
            .option("adapter", *adapter)
            .fact("delegates", delegates(&delegate_ids(backends)))
            .fact("engines", revisions(backends));
        let key = reading.key(key);
        let key = texts.iter().fold(key, |key, texts| texts.key(key));
        pipeline.iter().fold(key, |key, pipeline| pipeline.key(key))
    }
}

impl Action for Emit {
    const STAGE: Stage = Stage::Emit;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (planned, _weights) = self.program.load(db.world(), text::parse_plan)?;
        let mut named_data = self.texts.as_ref().map(|texts| texts.named_data(db)).transpose()?.unwrap_or_default();
        if let Some(pipeline) = &self.pipeline {
            named_data.extend(pipeline.named_data(db, &planned)?);
        }
        let [tokenizer, vision, hearing] = [et_llm::TOKENIZER_KEY, et_vision::VISION_KEY, et_hearing::HEARING_KEY]
            .map(|key| named_data.contains_key(key));
        named_data.extend(self.reading.named_data(db, &planned)?);
        let options = EmitOptions {
            producer: PRODUCER.to_owned(),
            constant_methods: constant_methods(&self.constants),
            delegates: delegate_ids(&self.backends),
            named_data,
        };
        let emitted = self.write(&planned, &options, products)?;
        let interface =
            Interface::new(&planned, &emitted, &self.backends, [tokenizer, self.reading.has_media(), vision, hearing]);
        products.put(ArtifactKind::Interface, &failure::json(&interface)?);
        Ok(())
    }
}

impl Emit {
    /// Writes the program file, and the data files if any.
    fn write(
        &self,
        planned: &PlannedProgram,
        options: &EmitOptions,
        products: &mut Products<'_>,
    ) -> Result<Emitted, Vec<Diagnostic>> {
        let mut out = products.writer();
        let emitted = if self.external_weights {
            let (mut model, mut adapter) = (products.writer(), self.adapter.then(|| products.writer()));
            let data = DataFiles { model: &mut model, adapter: adapter.as_mut().map(|file| file as &mut dyn Write) };
            let emitted =
                etbuild_emit::emit_with_data(planned, options, &mut out, data).map_err(super::failure::emit)?;
            products.finish(ArtifactKind::DataFile, model);
            if let Some(adapter) = adapter {
                products.finish(ArtifactKind::AdapterFile, adapter);
            }
            emitted
        } else {
            etbuild_emit::emit(planned, options, &mut out).map_err(super::failure::emit)?
        };
        products.finish(ArtifactKind::ProgramFile, out);
        Ok(emitted)
    }
}

/// The names of the backends in program files, by the names in programs.
fn delegate_ids(backends: &[&'static dyn Backend]) -> BTreeMap<String, String> {
    backends.iter().map(|backend| (backend.name().to_owned(), backend.delegate_id().to_owned())).collect()
}

fn delegates(ids: &BTreeMap<String, String>) -> Value {
    Value::List(ids.iter().map(|(name, id)| Value::List(vec![name.into(), id.into()])).collect())
}

fn constant_methods(constants: &BTreeMap<String, FixedValue>) -> Vec<ConstantMethod> {
    let method = |(name, value): (&String, &FixedValue)| ConstantMethod {
        name: name.clone(),
        outputs: match value {
            FixedValue::Scalar(value) => ConstantOutputs::One(scalar(value)),
            FixedValue::List(items) => ConstantOutputs::List(items.iter().map(scalar).collect()),
        },
    };
    constants.iter().map(method).collect()
}

fn scalar(value: &FixedScalar) -> ConstantScalar {
    match value {
        FixedScalar::Bool(flag) => ConstantScalar::Bool(*flag),
        FixedScalar::Int(number) => ConstantScalar::Int(*number),
        FixedScalar::Float(number) => ConstantScalar::Float(number.0),
        FixedScalar::Text(text) => ConstantScalar::Text(text.clone()),
    }
}

/// The constant methods in a key.
fn fixed_values(constants: &BTreeMap<String, FixedValue>) -> Value {
    let method = |(name, value): (&String, &FixedValue)| Value::List(vec![name.into(), fixed_value::in_key(value)]);
    Value::List(constants.iter().map(method).collect())
}
