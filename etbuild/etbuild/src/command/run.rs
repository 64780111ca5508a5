//! `etbuild run`: a program file, ours or upstream's, or a model, on this machine.

use std::collections::BTreeMap;
use std::path::Path;

use et_module::{
    Array, DataFiles, Engines, FileBytes, Kernels, Module, default_threads, is_bundled, run_cases, safetensors,
};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::{Mode, program_file};
use serde_json::Value;

use super::inputs::Inputs;
use super::{Outcome, bundled, language};
use crate::arguments;
use crate::engines::{ENGINES, kernel};
use crate::session::{Session, partition_override};

pub fn run(session: &Session, arguments: &arguments::Run) -> Outcome {
    if language::is_asked(&arguments.language) {
        return language::run(session, arguments);
    }
    let (mut module, stored_names) = load(session, arguments)?;
    if let Some(bundle) = bundle(arguments)? {
        return bundled::run(session, arguments, &mut module, &bundle);
    }
    let Some(outputs) = &arguments.outputs else { return Err(vec![usage("--outputs is required")]) };
    let inputs = Inputs::read(&*session.system, arguments)?;
    let tensors = inputs.tensors()?;
    let names = stored_names.unwrap_or_else(|| inputs.names(&tensors));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut module = only_results(module.with_input_names(&names));
    let failed = |error| vec![failed(&arguments.file, &error)];
    module.set_constants(&inputs.scalars).map_err(failed)?;
    let arrays = run_cases(&mut module, &tensors.tensors).map_err(failed)?;
    let texts = module.outputs().map_err(failed)?.texts;
    write_outputs(session, outputs, &arrays, &texts)?;
    Ok(Vec::new())
}

/// Writes tensors, and texts as the file's metadata.
pub(super) fn write_outputs(
    session: &Session,
    path: &Path,
    arrays: &BTreeMap<String, Array>,
    texts: &BTreeMap<String, String>,
) -> Result<(), Vec<Diagnostic>> {
    let mut bytes = Vec::new();
    let written = safetensors::write_with_texts(arrays, texts, &mut bytes);
    let written = written.and_then(|()| session.system.write(path, &bytes, false));
    written.map_err(|error| vec![unwritable(path, &error)])
}

/// The program, and the inputs' names where known: upstream's program files do not hold the names.
fn load(session: &Session, arguments: &arguments::Run) -> Result<(Module, Option<Vec<String>>), Vec<Diagnostic>> {
    let file = &arguments.file;
    let bytes = program(session, arguments)?;
    let data = DataFiles::open(&arguments.data).map_err(|error| vec![failed(file, &error)])?;
    let engines = Engines::new(ENGINES, arguments.threads.unwrap_or_else(default_threads));
    let module = Module::load_method(bytes, data, &arguments.method, Kernels::Lookup(&kernel), &engines);
    let module = module.map_err(|error| vec![failed(file, &error)])?;
    let names = if arguments.input_names.is_empty() { module.stored_input_names() } else { None };
    Ok((module, names))
}

/// The program file, or the program file that a model becomes.
pub(super) fn program(session: &Session, arguments: &arguments::Run) -> Result<FileBytes, Vec<Diagnostic>> {
    let file = &arguments.file;
    let is_model = file.extension().is_some_and(|extension| extension == "pt2") || session.system.is_dir(file);
    if !is_model {
        return FileBytes::open(file).map_err(|error| vec![failed(file, &error)]);
    }
    let partition = arguments.partition.iter().map(|engines| partition_override(engines));
    let options = language::options(&arguments.language).chain(partition).collect();
    Ok(FileBytes::owned(program_file(&session.world(Mode::Build)?, file, &session.overrides(options)?)?))
}

/// The bundled program whose own cases are to be run, if the arguments ask for the cases.
fn bundle(arguments: &arguments::Run) -> Result<Option<FileBytes>, Vec<Diagnostic>> {
    if arguments.inputs.is_some() {
        return Ok(None);
    }
    let bytes = FileBytes::open(&arguments.file).map_err(|error| vec![failed(&arguments.file, &error)])?;
    match is_bundled(&bytes) {
        true => Ok(Some(bytes)),
        false if arguments.bundled => Err(vec![usage("--bundled needs a bundled program")]),
        false => Ok(None),
    }
}

/// The module without the new values of mutated inputs: these values come before the results, whose number
/// the file holds.
fn only_results(module: Module) -> Module {
    let tree = module.output_tree().ok().flatten();
    let tree = tree.and_then(|tree| serde_json::from_str::<Value>(tree).ok());
    match tree.as_ref().and_then(|tree| tree.get(1)).map(leaves) {
        Some(results) => module.with_last_outputs(results),
        None => module,
    }
}

/// The leaves of a pytree: nodes without a type.
fn leaves(tree: &Value) -> usize {
    let children = tree.get("children_spec").and_then(Value::as_array);
    match tree.get("type") {
        Some(Value::Null) => 1,
        _ => children.map_or(0, |children| children.iter().map(leaves).sum()),
    }
}

fn usage(message: &str) -> Diagnostic {
    Diagnostic::error(Code::Usage, message)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::OutputUnwritable, format!("`{}` cannot be written: {error}", path.display()))
}

pub(super) fn failed(path: &Path, error: &et_module::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(code(error), format!("`{}`: {error}", path.display()));
    match error {
        et_module::Error::MethodMissing { methods, .. } if methods.iter().any(|method| method == PREFILL) => {
            diagnostic.help("a language model takes --prompt, --chat or --tokens-in")
        }
        _ => diagnostic,
    }
}

/// The method that language models have.
const PREFILL: &str = "prefill";

fn code(error: &et_module::Error) -> Code {
    use et_module::Error;
    match error {
        Error::Input { .. } => Code::InputsMismatch,
        Error::OperatorsMissing(_) | Error::DelegatesMissing(_) => Code::OperatorUnavailable,
        Error::File { .. } => Code::FileUnreadable,
        Error::MethodMissing { .. } => Code::Usage,
        Error::Program { operator: None, .. } | Error::DataFile { .. } | Error::ExternalTensor { .. } => {
            Code::ProgramFileMalformed
        }
        _ => Code::RunFailed,
    }
}
