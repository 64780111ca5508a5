//! `etbuild debug`: the results of every operator of a model against another variant of the model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use et_module::recording::{Keep, Recorder, Recording};
use et_module::{Array, DataFiles, Engines, FileBytes, Kernels, Module, TensorView, read_tensors};
use et_ops::call::OwnedTensor;
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_engine::quantize::owned;
use etbuild_engine::{Mode, program_file};
use etbuild_inspect::{HostAnatomy, MethodGraphs, Tensors, case_inputs, drift, host_graphs, portable_values};
use etbuild_ir::Graph;

use super::Outcome;
use super::program::{FORWARD, default_method, failed, is_program};
use crate::arguments;
use crate::engines::{ENGINES, kernel};
use crate::render::drift_text;
use crate::session::{Session, shorthands};
use crate::trace::{Drift, add_outputs, add_quantized, aligned, computed, named_values};

/// The limits without `--min-sqnr`, in decibels. Weights and activations of 8 bits keep about 30; integers that two backends round
/// differently by one step keep about 50; another order of float additions keeps 100.
const QUANTIZATION: f64 = 20.0;
const QUANTIZED: f64 = 40.0;
const FLOAT: f64 = 60.0;

/// The graphs of each method.
type Graphs = BTreeMap<String, MethodGraphs>;

/// What a model is compared with.
enum Reference {
    Float,
    Portable,
    Program(PathBuf),
}

pub fn run(session: &Session, arguments: &arguments::Debug) -> Outcome {
    let (anatomy, graphs) = model(session, arguments)?;
    let reference = reference(arguments, &anatomy);
    let limit = arguments.min_sqnr.unwrap_or(match reference {
        Reference::Float => QUANTIZATION,
        _ if anatomy.recipe.quantize.is_some() => QUANTIZED,
        _ => FLOAT,
    });
    let names: Vec<&String> = graphs.keys().collect();
    let method = arguments.method.as_deref().or_else(|| default_method(&names)).unwrap_or(FORWARD);
    let graphs = graphs.get(method).ok_or_else(|| vec![no_method(method, &graphs)])?;
    let graph = if matches!(reference, Reference::Float) { &graphs.float } else { &graphs.prepared };
    let tensors = tensors(session, arguments, &anatomy, graph)?;
    let runs = runs(session, (arguments, method), &anatomy, (&reference, graph, graphs), &tensors)?;
    let drifts = Drift::all(drift(graph, &runs), method, (graph, &anatomy));
    if drifts.is_empty() {
        return Err(vec![nothing_in_common(arguments, &reference)]);
    }
    let diagnostics = beyond(arguments, &drifts);
    show(session, (&drifts, &diagnostics), &reference, limit);
    Ok(diagnostics)
}

/// The program of the model for this machine, and the graphs of its methods.
fn model(session: &Session, arguments: &arguments::Debug) -> Result<(HostAnatomy, Graphs), Vec<Diagnostic>> {
    let file = &arguments.file;
    if is_program(session, file).map_err(|diagnostic| vec![diagnostic])? {
        let message = format!("`{}` is a program file, which has no variants", file.display());
        let help = "name the model or the recipe, and the program file after `--against`";
        return Err(vec![Diagnostic::error(Code::Usage, message).help(help)]);
    }
    host_graphs(&session.world(Mode::Build)?, file, &session.overrides(shorthands(&arguments.options))?)
}

fn reference(arguments: &arguments::Debug, anatomy: &HostAnatomy) -> Reference {
    match &arguments.against {
        Some(name) if name.as_os_str() == "float" => Reference::Float,
        Some(name) if name.as_os_str() == "portable" => Reference::Portable,
        Some(path) => Reference::Program(path.clone()),
        None if anatomy.recipe.quantize.is_some() => Reference::Float,
        None => Reference::Portable,
    }
}

/// The tensors of `--inputs`, or the calibration data of the recipe.
fn tensors(
    session: &Session,
    arguments: &arguments::Debug,
    anatomy: &HostAnatomy,
    graph: &Graph,
) -> Result<Tensors, Vec<Diagnostic>> {
    let path = arguments.inputs.as_ref().or(anatomy.calibrate.as_ref()).ok_or_else(|| vec![no_inputs()])?;
    let unreadable = |error: String| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        let diagnostic = Diagnostic::error(Code::InputsMismatch, message).at(Span::file(path.display().to_string()));
        vec![diagnostic.help("write a tensor for each input under the input's name: `safetensors.torch.save_file`")]
    };
    let bytes = session.system.read(path).map_err(|error| unreadable(error.to_string()))?;
    let names: Vec<String> = graph.inputs.iter().map(|id| graph.value(*id).name.clone()).collect();
    let views = read_tensors(&bytes, &names).map_err(|error| unreadable(error.to_string()))?;
    Ok(views.iter().filter_map(|(name, view)| Some((name.clone(), owned(view)?))).collect())
}

/// The values of the reference and of the program, case by case.
fn runs(
    session: &Session,
    (arguments, method): (&arguments::Debug, &str),
    anatomy: &HostAnatomy,
    (reference, graph, graphs): (&Reference, &Graph, &MethodGraphs),
    tensors: &Tensors,
) -> Result<Vec<(Tensors, Tensors)>, Vec<Diagnostic>> {
    let inputs = case_inputs(graph, tensors, arguments.cases).map_err(|diagnostic| vec![diagnostic])?;
    let own = record(&arguments.file, FileBytes::owned(anatomy.program.clone()), method, &inputs)?;
    let calls = anatomy.calls.get(method).map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = graphs.prepared.outputs.iter().map(|id| graphs.prepared.value(*id).name.as_str()).collect();
    let values = |(recording, outputs): &(Recording, Vec<Array>)| {
        let mut values = named_values(recording, calls);
        add_outputs(&mut values, &names, outputs);
        values
    };
    let mut own: Vec<Tensors> = own.iter().map(values).collect();
    if matches!(reference, Reference::Float) {
        own.iter_mut().for_each(|values| add_quantized(values, &graphs.prepared));
    }
    let Reference::Program(path) = reference else {
        let values = portable_values(graph, tensors, arguments.cases).map_err(|diagnostic| vec![diagnostic])?;
        return Ok(values.into_iter().zip(own).collect());
    };
    let bytes = foreign_program(session, path)?;
    let foreign = record(path, bytes, method, &inputs)?;
    let pairs = foreign.iter().zip(own);
    Ok(pairs.map(|((foreign, _), own)| (aligned(graph, &own, computed(foreign)), own)).collect())
}

/// A program file, or the program file that another model becomes for the portable kernels.
fn foreign_program(session: &Session, path: &Path) -> Result<FileBytes, Vec<Diagnostic>> {
    if is_program(session, path).map_err(|diagnostic| vec![diagnostic])? {
        return FileBytes::open(path).map_err(|error| vec![failed(path, &error)]);
    }
    let portable = session.overrides(vec!["partition=portable".to_owned()])?;
    Ok(FileBytes::owned(program_file(&session.world(Mode::Build)?, path, &portable)?))
}

/// Runs a program on each case, and keeps the results of every instruction, and the outputs.
fn record(
    path: &Path,
    bytes: FileBytes,
    method: &str,
    inputs: &[Vec<OwnedTensor>],
) -> Result<Vec<(Recording, Vec<Array>)>, Vec<Diagnostic>> {
    let failed = |error| vec![failed(path, &error)];
    let recorder = Arc::new(Recorder::new(Keep::Everything));
    let engines = Engines::new(ENGINES, 1).observed_by(recorder.clone());
    let bytes = Rc::new(bytes);
    let mut recordings = Vec::new();
    for case in inputs {
        // State begins anew with each case, as in the reference.
        let (bytes, lookup) = (FileBytes::shared(&bytes), Kernels::Lookup(&kernel));
        let mut module = Module::load_method(bytes, DataFiles::default(), method, lookup, &engines).map_err(failed)?;
        for (index, tensor) in case.iter().enumerate() {
            let shape = tensor.sizes.iter().map(|size| *size as usize).collect();
            let view = TensorView { scalar_type: tensor.scalar_type, shape, bytes: &tensor.bytes };
            module.set_input(index, &view).map_err(failed)?;
        }
        module.execute().map_err(failed)?;
        let outputs = module.shown_outputs().and_then(|outputs| outputs.map(|index| module.output(index)).collect());
        recordings.push((recorder.take(), outputs.map_err(failed)?));
    }
    Ok(recordings)
}

/// The failure of `--min-sqnr`.
fn beyond(arguments: &arguments::Debug, drifts: &[Drift]) -> Vec<Diagnostic> {
    let Some(limit) = arguments.min_sqnr else { return Vec::new() };
    let first = drifts.iter().find(|drift| drift.drifts(limit));
    let failure = first.map(|drift| {
        let message = format!("results differ: the first below {limit} dB is {}", drift.place());
        Diagnostic::error(Code::AccuracyFailed, message)
            .help("look at this operator first: later ones compute from its result")
    });
    failure.into_iter().collect()
}

fn show(session: &Session, (drifts, found): (&[Drift], &[Diagnostic]), reference: &Reference, limit: f64) {
    let name = match reference {
        Reference::Float => "the model before quantization".to_owned(),
        Reference::Portable => "the portable kernels".to_owned(),
        Reference::Program(path) => format!("`{}`", path.display()),
    };
    let first = drifts.iter().find(|drift| drift.drifts(limit));
    let value = serde_json::json!({
        "schema": "etbuild.debug/1", "ok": found.is_empty(), "reference": name, "limit": limit, "first": first,
        "values": drifts, "diagnostics": found,
    });
    session.terminal.present(&value, &drift_text(drifts, &name, limit));
    session.terminal.explain(found);
}

fn no_method(method: &str, graphs: &Graphs) -> Diagnostic {
    let names: Vec<&str> = graphs.keys().map(String::as_str).collect();
    Diagnostic::error(Code::Usage, format!("the model has no method `{method}`"))
        .help(format!("write `--method NAME`, one of {}", names.join(", ")))
}

fn no_inputs() -> Diagnostic {
    Diagnostic::error(Code::Usage, "no inputs to run the model on")
        .help("name a safetensors file with a tensor for each input: `--inputs FILE`")
}

fn nothing_in_common(arguments: &arguments::Debug, reference: &Reference) -> Diagnostic {
    let message = format!("`{}` and the reference have no `float32` result in common", arguments.file.display());
    let help = match reference {
        Reference::Program(_) => "compare with a program file of the same model for the portable kernels",
        _ => "the backend keeps its results in memory of its own: try `--partition cpu`",
    };
    Diagnostic::error(Code::Usage, message).help(help)
}
