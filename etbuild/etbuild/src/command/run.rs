//! `etbuild run`: a program file, ours or upstream's, or a model, on this machine.

use std::path::Path;

use et_module::safetensors::{self, SafeTensors};
use et_module::{FileBytes, Kernels, Module, run_cases};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::{INPUTS_KEY, Mode, program_file};

use super::Outcome;
use crate::arguments;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Run) -> Outcome {
    let inputs = session.system.read(&arguments.inputs).map_err(|error| vec![unreadable(&arguments.inputs, &error)])?;
    let inputs = SafeTensors::parse(&inputs).map_err(|error| vec![malformed(&arguments.inputs, &error)])?;
    let (module, names) = load(session, arguments)?;
    let names = names.unwrap_or_else(|| input_names(&inputs));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut module = module.with_input_names(&names);
    let outputs = run_cases(&mut module, &inputs.tensors).map_err(|error| vec![failed(&arguments.file, &error)])?;
    let mut bytes = Vec::new();
    safetensors::write(&outputs, &mut bytes).map_err(|error| vec![unwritable(&arguments.outputs, &error)])?;
    let written = session.system.write(&arguments.outputs, &bytes, false);
    written.map_err(|error| vec![unwritable(&arguments.outputs, &error)])?;
    Ok(Vec::new())
}

/// The program, and its inputs' names where they are known: upstream's program files do not hold them.
fn load(session: &Session, arguments: &arguments::Run) -> Result<(Module, Option<Vec<String>>), Vec<Diagnostic>> {
    let file = &arguments.file;
    let bytes = if file.extension().is_some_and(|extension| extension == "pt2") {
        engines(arguments)?;
        FileBytes::owned(program_file(&session.world(Mode::Build)?, file)?.to_vec())
    } else {
        FileBytes::open(file).map_err(|error| vec![failed(file, &error)])?
    };
    let names = stored_names(&bytes, &arguments.method);
    let module = Module::load_method(bytes, &arguments.method, Kernels::Lookup(&kernel));
    Ok((module.map_err(|error| vec![failed(file, &error)])?, names))
}

/// The names that a program file of ours holds.
fn stored_names(bytes: &[u8], method: &str) -> Option<Vec<String>> {
    let file = et_format::ProgramFile::parse(bytes).ok()?;
    let names = file.named_data(&format!("{INPUTS_KEY}{method}")).ok()?;
    Some(String::from_utf8_lossy(names).lines().map(str::to_owned).collect())
}

/// Only the portable kernels run models here.
fn engines(arguments: &arguments::Run) -> Result<(), Vec<Diagnostic>> {
    match arguments.partition.as_deref() {
        None | Some("portable" | "") => Ok(()),
        Some(engine) => {
            let message = format!("there is no engine `{engine}`");
            Err(vec![Diagnostic::error(Code::UnknownEngine, message).help("use `--partition portable`")])
        }
    }
}

fn kernel(name: &str, overload: &str) -> Option<et_core::Kernel> {
    let name = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    et_ops::find_kernel(&name)
}

/// For a program file the tensors are taken in the order of their names, without reference outputs and labels.
fn input_names(inputs: &SafeTensors<'_>) -> Vec<String> {
    let is_input = |name: &&String| !name.starts_with("output_") && *name != "labels";
    inputs.tensors.keys().filter(is_input).cloned().collect()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::FileUnreadable, format!("`{}` cannot be read: {error}", path.display()))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::OutputUnwritable, format!("`{}` cannot be written: {error}", path.display()))
}

fn malformed(path: &Path, error: &safetensors::Error) -> Diagnostic {
    Diagnostic::error(Code::InputsMismatch, format!("`{}` is not safetensors: {error}", path.display()))
}

fn failed(path: &Path, error: &et_module::Error) -> Diagnostic {
    let code = match error {
        et_module::Error::Input { .. } => Code::InputsMismatch,
        et_module::Error::OperatorsMissing(_) | et_module::Error::DelegatesMissing(_) => Code::OperatorUnavailable,
        et_module::Error::File { .. } => Code::FileUnreadable,
        et_module::Error::Program { .. } => Code::ProgramFileMalformed,
        _ => Code::RunFailed,
    };
    Diagnostic::error(code, format!("`{}`: {error}", path.display()))
}
