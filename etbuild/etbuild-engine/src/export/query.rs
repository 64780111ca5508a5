//! A Python function becomes a model archive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::{FixedScalar, FixedValue};
use etbuild_store::{Digest, Key, KeyBuilder, Value};

use super::interpreter::{self, Interpreter};
use super::protocol;
use super::reads::{self, Reads};
use crate::action::{self, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::input::{Db, PythonCall, PythonModel, file_digest, fixed_value};
use crate::pipeline::Stage;
use crate::session::{Transient, World, interrupt};

/// The archive that `torch.export` makes of the function's module. Reads the script, the imported modules and opened files, the
/// arguments, and the versions of the interpreter and of the packages in use. The imports and opened files are known from the last
/// export; otherwise the function is called.
#[salsa::tracked(returns(clone))]
pub fn exported(db: &dyn Db, model: PythonModel) -> StageResult {
    let world = db.world();
    let export = Export::of(db, model.call(db))?;
    let (before, script) = (export.action_key(), &export.script);
    let known = || reads::recall(world, &before, script).map(|reads| export.full_key(&reads));
    action::run_discovering(world, Stage::Export, &before, known, |products| {
        let reads = export.run(world, products)?;
        reads::remember(world, &before, &reads);
        Ok(export.full_key(&reads))
    })
}

/// The files that the last export of a model read; `None` before the first export.
pub fn export_reads(db: &dyn Db, model: PythonModel) -> Option<Vec<PathBuf>> {
    let export = Export::of(db, model.call(db)).ok()?;
    Some(reads::recall(db.world(), &export.action_key(), &export.script)?.paths(&model.call(db).script))
}

/// The interpreter and the packages that the last export of a model used, with their versions.
pub fn export_tools(db: &dyn Db, model: PythonModel) -> BTreeMap<String, String> {
    let Ok(export) = Export::of(db, model.call(db)) else { return BTreeMap::new() };
    let reads = reads::recall(db.world(), &export.action_key(), &export.script);
    let interpreter = export.interpreter;
    let packages = reads.map(|reads| reads.distributions).unwrap_or_default().into_iter();
    let packages = packages.filter_map(|name| Some((name.clone(), interpreter.distributions.get(&name)?.clone())));
    packages.chain([("python".to_owned(), interpreter.version.clone())]).collect()
}

/// Exporting. The inputs are those that are certain before the call of the function; [`Reads`] are the others.
struct Export {
    interpreter: Interpreter,
    script: PathBuf,
    digest: Digest,
    function: String,
    arguments: BTreeMap<String, FixedValue>,
    /// The digests of the files that the recipe names.
    files: Vec<Digest>,
}

impl Export {
    fn of(db: &dyn Db, call: &PythonCall) -> Result<Self, Blocked> {
        let PythonCall { script, function, arguments, interpreter, files } = call;
        let world = db.world();
        let interpreter = interpreter::interpreter(world, interpreter.as_deref())
            .unwrap_or_else(|missing| interrupt(Transient::Environment(missing)));
        let script = std::path::absolute(script).unwrap_or_else(|_| script.clone());
        let digest = |path: &Path| file_digest::of(world, path).map_err(|error| unreadable(path, &error));
        Ok(Self {
            interpreter,
            digest: digest(&script)?,
            script,
            function: function.clone(),
            arguments: arguments.clone(),
            files: files.iter().map(|file| digest(file)).collect::<Result<_, Blocked>>()?,
        })
    }

    /// The key of what is certain beforehand.
    fn action_key(&self) -> Key {
        self.key(Stage::Export.key()).finish()
    }

    /// The key of all inputs.
    fn full_key(&self, reads: &Reads) -> Key {
        reads.key(self.key(Stage::Export.key()), &self.interpreter)
    }

    /// Calls the function; returns the files that the call read.
    fn run(&self, world: &World, products: &mut Products<'_>) -> Result<Reads, Vec<Diagnostic>> {
        let folder = protocol::temporary();
        let arguments: BTreeMap<String, serde_json::Value> =
            self.arguments.iter().map(|(name, value)| (name.clone(), json_value(value))).collect();
        let answer =
            protocol::ask(world, &self.interpreter.program, (&self.script, &self.function), &arguments, folder.path())?;
        let reads = Reads::of_answer(world, answer, &self.script, folder.path())?;
        let archive = folder.path().join("model.pt2");
        let archive = world.store().put_file(&archive).unwrap_or_else(|error| interrupt(error));
        products.adopt(ArtifactKind::Source, archive.reference());
        products.put(ArtifactKind::Reads, &crate::failure::json(&reads)?);
        world.hold(&archive);
        Ok(reads)
    }
}

impl Keyed for Export {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            interpreter:
                Interpreter {
                    program: _, // Interpreters of a version with packages of equal versions export alike.
                    version,
                    distributions: _, // The reads state the packages in use.
                },
            script: _, // The digest stands for the script.
            digest,
            function,
            arguments,
            files,
        } = self;
        let arguments = arguments.iter().map(|(name, value)| (name.clone(), fixed_value::in_key(value)));
        let key = key
            .option("function", function.as_str())
            .option("arguments", Value::Map(arguments.collect()))
            .tool("python", version.as_str())
            .input("script", *digest);
        let files = files.iter().enumerate();
        files.fold(key, |key, (index, digest)| key.input(&format!("files[{index}]"), *digest))
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Blocked {
    let message = format!("`{}` cannot be read: {error}", path.display());
    Blocked::failed(Stage::Export, [Diagnostic::error(Code::FileUnreadable, message)])
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
