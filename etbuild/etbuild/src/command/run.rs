//! `etbuild run`: a program file, ours or upstream's, or a model, on this machine.

use std::collections::BTreeMap;
use std::path::Path;

use et_module::{
    Array, DataFiles, Engines, FileBytes, Kernels, Module, default_threads, is_bundled, run_cases, write_tensors,
};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_engine::{Format, Mode, Subject, file_format, program_file, subject};
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
    let Some(outputs) = &arguments.outputs else {
        return Err(vec![usage("--outputs is required").help("write `--outputs FILE.safetensors`")]);
    };
    let inputs = Inputs::read(&*session.system, arguments)?;
    let tensors = inputs.tensors(stored_names.as_deref())?;
    let names = stored_names.unwrap_or_else(|| inputs.names(&tensors));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut module = only_results(module.with_input_names(&names));
    let failed = |error| vec![failed(&arguments.file, &error)];
    module.set_constants(&inputs.scalars).map_err(failed)?;
    let arrays = run_cases(&mut module, &tensors).map_err(failed)?;
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
    let written = write_tensors(path, arrays, texts, &mut bytes);
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
    if is_program(session, file).map_err(|diagnostic| vec![diagnostic])? {
        return FileBytes::open(file).map_err(|error| vec![failed(file, &error)]);
    }
    let partition = arguments.partition.iter().map(|engines| partition_override(engines));
    let options = language::options(&arguments.language).chain(partition).collect();
    Ok(FileBytes::owned(program_file(&session.world(Mode::Build)?, file, &session.overrides(options)?)?))
}

/// Whether the file is a program file, and not a model that becomes one.
///
/// # Errors
/// A file that is neither.
pub(super) fn is_program(session: &Session, file: &Path) -> Result<bool, Diagnostic> {
    let system = &*session.system;
    let is_program = |format| matches!(format, Format::Program | Format::BundledProgram);
    if !system.is_dir(file) && file_format(system, file).is_ok_and(|format| format.is_some_and(is_program)) {
        return Ok(true);
    }
    match subject(system, file)? {
        // A damaged program file: the reader says what is wrong with it.
        Subject::Recipe if file.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) => {
            Ok(true)
        }
        Subject::Recipe => Err(no_program(file)),
        _ => Ok(false),
    }
}

/// How the names of program files end.
const ENDINGS: [&str; 2] = ["bpte", "pte"];

fn no_program(file: &Path) -> Diagnostic {
    let message = format!("`{}` is neither a program file nor a model", file.display());
    let help = "name a `.pte`, a `.pt2` archive, or the folder of a checkpoint; a recipe goes to `etbuild deploy`";
    Diagnostic::error(Code::ProgramFileMalformed, message).at(Span::file(file.display().to_string())).help(help)
}

/// The bundled program whose own cases are to be run, if the arguments ask for the cases.
fn bundle(arguments: &arguments::Run) -> Result<Option<FileBytes>, Vec<Diagnostic>> {
    if arguments.inputs.is_some() {
        return Ok(None);
    }
    let bytes = FileBytes::open(&arguments.file).map_err(|error| vec![failed(&arguments.file, &error)])?;
    match is_bundled(&bytes) {
        true => Ok(Some(bytes)),
        false if arguments.bundled => {
            Err(vec![usage("--bundled needs a bundled program").help("name a `.bpte` file, or give --inputs")])
        }
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
        et_module::Error::MethodMissing { methods, .. } => {
            diagnostic.help(format!("write `--method NAME`, one of {}", methods.join(", ")))
        }
        et_module::Error::Input { .. } => diagnostic
            .help("`etbuild inspect` shows the names, shapes and dtypes of the inputs; `--inputs FILE` gives them"),
        et_module::Error::Program { operator: None, .. } => {
            diagnostic.help("the file is cut or damaged, or of another format: build it again, or download it again")
        }
        et_module::Error::OperatorsMissing(_) | et_module::Error::DelegatesMissing(_) => {
            diagnostic.help("export it for the portable kernels, or deploy the `.pt2` model with etbuild")
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
