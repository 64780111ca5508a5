//! A Python function becomes a model archive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::{FixedScalar, FixedValue};
use etbuild_store::{KeyBuilder, Value};

use crate::ArtifactKind;
use crate::db::{Db, PythonCall, PythonModel};
use crate::file_digest;
use crate::python::{self, Interpreter, Reads};
use crate::stage::{self, Blocked, Stage, StageResult, Transient, interrupt};

/// The archive that `torch.export` makes of the function's module. Reads the script, the imported modules and opened files, the
/// arguments, and the versions of the interpreter and of the packages in use. The imports and opened files are known from the last
/// export; otherwise the function is called.
#[salsa::tracked(returns(clone))]
pub fn exported(db: &dyn Db, model: PythonModel) -> StageResult {
    let (world, call) = (db.world(), model.call(db));
    let Begin { interpreter, script, key } = begin(db, call)?;
    let before = key.clone().finish();
    let known = || python::recall(world, &before, &script).map(|reads| reads.key(key.clone(), &interpreter));
    stage::run_discovering(world, Stage::Export, &before, known, |products| {
        let folder = python::temporary();
        let arguments: BTreeMap<String, serde_json::Value> =
            call.arguments.iter().map(|(name, value)| (name.clone(), json_value(value))).collect();
        let answer = python::ask(world, &interpreter, (&script, &call.function), &arguments, folder.path())?;
        let reads = Reads::of_answer(world, answer, &script, folder.path())?;
        let archive = folder.path().join("model.pt2");
        let archive = world.store().put_file(&archive).unwrap_or_else(|error| interrupt(error));
        products.adopt(ArtifactKind::Source, archive.reference());
        products.put(ArtifactKind::Reads, &crate::failure::json(&reads)?);
        world.hold(&archive);
        python::remember(world, &before, &reads);
        Ok(reads.key(key.clone(), &interpreter))
    })
}

/// The files that the last export of a model read; `None` before the first export.
pub fn export_reads(db: &dyn Db, model: PythonModel) -> Option<Vec<PathBuf>> {
    let Begin { script, key, .. } = begin(db, model.call(db)).ok()?;
    Some(python::recall(db.world(), &key.finish(), &script)?.paths(&model.call(db).script))
}

/// The interpreter and the packages that the last export of a model used, with their versions.
pub fn export_tools(db: &dyn Db, model: PythonModel) -> BTreeMap<String, String> {
    let Ok(Begin { interpreter, script, key }) = begin(db, model.call(db)) else { return BTreeMap::new() };
    let reads = python::recall(db.world(), &key.finish(), &script);
    let packages = reads.map(|reads| reads.distributions).unwrap_or_default().into_iter();
    let packages = packages.filter_map(|name| Some((name.clone(), interpreter.distributions.get(&name)?.clone())));
    packages.chain([("python".to_owned(), interpreter.version.clone())]).collect()
}

/// The part of the key that is certain before the call of the function.
struct Begin {
    interpreter: Interpreter,
    script: PathBuf,
    key: KeyBuilder,
}

fn begin(db: &dyn Db, call: &PythonCall) -> Result<Begin, Blocked> {
    let world = db.world();
    let interpreter = python::interpreter(world, call.interpreter.as_deref())
        .unwrap_or_else(|missing| interrupt(Transient::Environment(missing)));
    let script = std::path::absolute(&call.script).unwrap_or_else(|_| call.script.clone());
    let digest = |path: &Path| file_digest::of(world, path).map_err(|error| unreadable(path, &error));
    let arguments = call.arguments.iter().map(|(name, value)| (name.clone(), key_value(value)));
    let mut key = Stage::Export
        .key()
        .option("function", call.function.as_str())
        .option("arguments", Value::Map(arguments.collect()))
        .tool("python", interpreter.version.as_str())
        .input("script", digest(&script)?);
    for (index, file) in call.files.iter().enumerate() {
        key = key.input(&format!("files[{index}]"), digest(file)?);
    }
    Ok(Begin { interpreter, script, key })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Blocked {
    let message = format!("`{}` cannot be read: {error}", path.display());
    Blocked::failed(Stage::Export, [Diagnostic::error(Code::FileUnreadable, message)])
}

fn key_value(value: &FixedValue) -> Value {
    let scalar = |value: &FixedScalar| match value {
        FixedScalar::Bool(value) => Value::from(*value),
        FixedScalar::Int(value) => Value::from(*value),
        FixedScalar::Float(value) => Value::Float(value.0.to_bits()),
        FixedScalar::Text(value) => Value::from(value.as_str()),
    };
    match value {
        FixedValue::Scalar(value) => scalar(value),
        FixedValue::List(values) => Value::List(values.iter().map(scalar).collect()),
    }
}

fn json_value(value: &FixedValue) -> serde_json::Value {
    let scalar = |value: &FixedScalar| match value {
        FixedScalar::Bool(value) => (*value).into(),
        FixedScalar::Int(value) => (*value).into(),
        FixedScalar::Float(value) => value.0.into(),
        FixedScalar::Text(value) => value.as_str().into(),
    };
    match value {
        FixedValue::Scalar(value) => scalar(value),
        FixedValue::List(values) => values.iter().map(scalar).collect(),
    }
}
