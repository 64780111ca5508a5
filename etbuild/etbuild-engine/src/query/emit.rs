//! The planned program becomes a program file.

use std::collections::BTreeMap;
use std::io::Write;

use etbuild_backend::Backend;
use etbuild_emit::{ConstantMethod, ConstantOutputs, ConstantScalar, DataFiles, EmitOptions};
use etbuild_ir::text;
use etbuild_recipe::{FixedScalar, FixedValue};
use etbuild_store::{KeyBuilder, Value};

use super::delegate::revisions;
use super::{PlanOptions, planned};
use crate::db::{CheckpointFolder, Db};
use crate::interface::Interface;
use crate::program_artifact;
use crate::stage::{self, Blocked, Stage, StageResult};
use crate::unit::Archives;
use crate::{ArtifactKind, PRODUCER, failure, texts};

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
}

/// The program file, the data files if any, and the interface for the link.
#[salsa::tracked(returns(clone))]
pub fn emitted(db: &dyn Db, archives: Archives, plan: PlanOptions, file: FileOptions) -> StageResult {
    let partition = plan.partition.clone();
    let planned = planned(db, archives, plan).map_err(|blocked: Blocked| blocked.downstream())?;
    let program = planned.blob(ArtifactKind::Program)?;
    let backends = partition.backends(db.world())?;
    let ids = delegate_ids(&backends);
    let key = Stage::Emit
        .key()
        .input("program", program.digest)
        .option("producer", PRODUCER)
        .option("export.constants", constants(&file))
        .option("export.weights.external", file.external_weights)
        .option("adapter", file.adapter)
        .fact("delegates", delegates(&ids))
        .fact("engines", revisions(&backends));
    let key = with_texts(db, key, file.texts)?.finish();
    stage::run(db.world(), Stage::Emit, key, |products| {
        let (planned, _weights) = program_artifact::load(db.world(), &planned, text::parse_plan)?;
        let constant_methods = constant_methods(&file);
        let named_data = file.texts.map(|folder| texts::named_data(db, folder)).transpose()?.unwrap_or_default();
        let options = EmitOptions { producer: PRODUCER.to_owned(), constant_methods, delegates: ids, named_data };
        let tokenizer = options.named_data.contains_key(et_llm::TOKENIZER_KEY);
        let mut out = products.writer();
        let emitted = if file.external_weights {
            let (mut model, mut adapter) = (products.writer(), file.adapter.then(|| products.writer()));
            let data = DataFiles { model: &mut model, adapter: adapter.as_mut().map(|file| file as &mut dyn Write) };
            let emitted = etbuild_emit::emit_with_data(&planned, &options, &mut out, data);
            let emitted = emitted.map_err(failure::emit)?;
            products.finish(ArtifactKind::DataFile, model);
            if let Some(adapter) = adapter {
                products.finish(ArtifactKind::AdapterFile, adapter);
            }
            emitted
        } else {
            etbuild_emit::emit(&planned, &options, &mut out).map_err(failure::emit)?
        };
        products.finish(ArtifactKind::ProgramFile, out);
        let interface = Interface::new(&planned, &emitted, &backends, tokenizer);
        products.put(ArtifactKind::Interface, &failure::json(&interface)?);
        Ok(())
    })
}

/// The key with the files that describe texts, and with the context in tokens.
fn with_texts(db: &dyn Db, mut key: KeyBuilder, texts: Option<CheckpointFolder>) -> Result<KeyBuilder, Blocked> {
    let Some(folder) = texts else { return Ok(key) };
    key = key.fact("export.context", Value::from(folder.options(db).context.map(u64::from)));
    for (name, file) in folder.texts(db).iter() {
        let unreadable = |error| texts::unreadable(db, *file, error);
        let digest = file.digest(db).map_err(|error| Blocked::failed(Stage::Emit, [unreadable(error)]))?;
        key = key.option("text", name.as_str()).input("contents", digest);
    }
    Ok(key)
}

/// The names of the backends in program files, by the names in programs.
fn delegate_ids(backends: &[&'static dyn Backend]) -> BTreeMap<String, String> {
    backends.iter().map(|backend| (backend.name().to_owned(), backend.delegate_id().to_owned())).collect()
}

fn delegates(ids: &BTreeMap<String, String>) -> Value {
    Value::List(ids.iter().map(|(name, id)| Value::List(vec![name.into(), id.into()])).collect())
}

fn constant_methods(file: &FileOptions) -> Vec<ConstantMethod> {
    let method = |(name, value): (&String, &FixedValue)| ConstantMethod {
        name: name.clone(),
        outputs: match value {
            FixedValue::Scalar(value) => ConstantOutputs::One(scalar(value)),
            FixedValue::List(items) => ConstantOutputs::List(items.iter().map(scalar).collect()),
        },
    };
    file.constants.iter().map(method).collect()
}

fn scalar(value: &FixedScalar) -> ConstantScalar {
    match value {
        FixedScalar::Bool(flag) => ConstantScalar::Bool(*flag),
        FixedScalar::Int(number) => ConstantScalar::Int(*number),
        FixedScalar::Float(number) => ConstantScalar::Float(number.0),
        FixedScalar::Text(text) => ConstantScalar::Text(text.clone()),
    }
}

/// The constant methods in a key, in which a value differs from a list of one value.
fn constants(file: &FileOptions) -> Value {
    let method = |(name, value): (&String, &FixedValue)| {
        let value = match value {
            FixedValue::Scalar(value) => scalar_in_key(value),
            FixedValue::List(items) => Value::List(items.iter().map(scalar_in_key).collect()),
        };
        Value::List(vec![name.into(), value])
    };
    Value::List(file.constants.iter().map(method).collect())
}

fn scalar_in_key(value: &FixedScalar) -> Value {
    match value {
        FixedScalar::Bool(flag) => (*flag).into(),
        FixedScalar::Int(number) => (*number).into(),
        FixedScalar::Float(number) => number.0.into(),
        FixedScalar::Text(text) => text.into(),
    }
}
