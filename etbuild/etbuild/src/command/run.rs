//! `etbuild run`: a program file, ours or upstream's, or a model, on this machine.

use std::rc::Rc;

use et_module::{
    Class, DEFAULT_TOP_K, DataFiles, Engines, FileBytes, Kernels, Module, Named, TensorView, class_lines,
    default_threads, is_bundled, run_cases,
};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::device::Device;

use serde_json::{Value, json};

use super::inputs::Inputs;
use super::program::{FORWARD, default_method, failed, program, write_outputs};
use super::{Outcome, bundled, language, on_device};
use crate::arguments::{self, Output};
use crate::engines::{ENGINES, kernel};
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Run) -> Outcome {
    if let Some(device) = &arguments.device {
        let device = Device::parse(device).and_then(Device::shell).map_err(|error| vec![error])?;
        return on_device::run(session, arguments, &device);
    }
    if language::is_asked(&arguments.language) {
        let bytes = program(session, arguments)?;
        return language::run(session, arguments, bytes, None);
    }
    let engines = Engines::new(ENGINES, arguments.threads.unwrap_or_else(default_threads));
    let (mut module, stored_names) = load(arguments, program(session, arguments)?, &engines)?;
    if arguments.inputs.is_none() && module.named_data(et_llm::ENCODER_KEY).is_some() {
        return Err(vec![usage("the model reads a text, and there is none").help("give a text with `--prompt TEXT`")]);
    }
    if let Some(bundle) = bundle(arguments)? {
        return bundled::run(session, arguments, &mut module, &bundle);
    }
    let (outputs, top_k) = (&arguments.outputs, arguments.language.top_k);
    if outputs.is_none() && top_k.is_none() && module.labels().is_none() {
        let help = "write `--outputs FILE.safetensors`, or `--top-k 5` for a classifier";
        return Err(vec![usage("--outputs is required").help(help)]);
    }
    let (arrays, texts, classes) = with_inputs(session, arguments, (module, stored_names), |mut module, tensors| {
        let failed = |error| vec![failed(&arguments.file, &error)];
        let arrays = run_cases(&mut module, tensors).map_err(failed)?;
        let texts = module.outputs().map_err(failed)?.texts;
        let count = top_k.or(outputs.is_none().then_some(DEFAULT_TOP_K));
        let classes = count.map(|count| module.classes(arrays.get("output_0"), count)).transpose();
        Ok((arrays, texts, classes.map_err(|error| failed(et_module::Error::Classes(error)))?))
    })?;
    if let Some(outputs) = outputs {
        write_outputs(session, outputs, &arrays, &texts)?;
    }
    show(session, arguments, classes.as_deref());
    Ok(Vec::new())
}

/// Shows the classes of each case, and programs the file of the outputs.
fn show(session: &Session, arguments: &arguments::Run, classes: Option<&[Vec<Class>]>) {
    let text = classes.map(class_lines).unwrap_or_default();
    if text.is_empty() && session.global.output != Output::Json {
        return;
    }
    let class = |Class { index, name, probability }: &Class| json!({ "index": index, "name": name, "probability": probability });
    let case = |case: &Vec<Class>| case.iter().map(class).collect::<Vec<Value>>();
    let cases: Option<Vec<Vec<Value>>> = classes.map(|cases| cases.iter().map(case).collect());
    session.terminal.succeed("run", json!({ "outputs": arguments.outputs, "classes": cases }), &text);
}

/// Reads the inputs that the arguments name, gives the module their names and numbers, and calls `use_them` with both.
pub(super) fn with_inputs<T>(
    session: &Session,
    arguments: &arguments::Run,
    (mut module, stored_names): (Module, Option<Vec<String>>),
    use_them: impl FnOnce(Module, &Named<TensorView<'_>>) -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    let mut inputs = Inputs::read(&*session.system, arguments)?;
    if let Some(names) = &stored_names {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        module = module.with_input_names(&names);
    }
    inputs.decode(&module)?;
    let tensors = inputs.tensors(stored_names.as_deref())?;
    let names = stored_names.unwrap_or_else(|| inputs.names(&tensors));
    inputs.check_scalars(arguments, &names)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut module = module.with_input_names(&names).with_only_results();
    module.set_constants(&inputs.scalars).map_err(|error| vec![failed(&arguments.file, &error)])?;
    use_them(module, &tensors)
}

/// The program, and the inputs' names where known: upstream's program files do not hold the names.
pub(super) fn load(
    arguments: &arguments::Run,
    bytes: FileBytes,
    engines: &Engines,
) -> Result<(Module, Option<Vec<String>>), Vec<Diagnostic>> {
    let file = &arguments.file;
    let bytes = Rc::new(bytes);
    let load = |method: &str| {
        let (bytes, data) = (FileBytes::shared(&bytes), DataFiles::open(&arguments.data)?);
        Module::load_method(bytes, data, method, Kernels::Lookup(&kernel), engines)
    };
    let module = match load(arguments.method.as_deref().unwrap_or(FORWARD)) {
        Err(et_module::Error::MethodMissing { name, methods }) if arguments.method.is_none() => {
            load(&default_method(&methods).map_or(name, str::to_owned))
        }
        loaded => loaded,
    };
    let module = module.map_err(|error| vec![failed(file, &error)])?;
    let names = if arguments.input_names.is_empty() { module.stored_input_names() } else { None };
    Ok((module, names))
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

fn usage(message: &str) -> Diagnostic {
    Diagnostic::error(Code::Usage, message)
}
