//! `etbuild trace`: a run on this machine or on a device with recorded events, as a profile, a trace for Perfetto and an ETDump.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use et_module::recording::{EtDump, Keep, Recorder, Recording};
use et_module::{Array, Engines, FileBytes, Observer, TensorView, default_threads, run_cases};
use etbuild_diagnostic::{Code, Diagnostic, unreadable, unwritable};
use etbuild_engine::Mode;
use etbuild_engine::device::Device;
use etbuild_engine::import::{ExportedGraph, exported_graph};
use etbuild_inspect::anatomy;

use super::program::{failed, is_program, looked_into};
use super::run::{load, with_inputs};
use super::{Outcome, gpu, language, on_device};
use crate::arguments;
use crate::engines::ENGINES;
use crate::render::profile_text;
use crate::session::Session;
use crate::trace::{GivenInputs, Names, Profile, etdump, etrecord, perfetto};

pub fn run(session: &Session, arguments: &arguments::Trace) -> Outcome {
    refuse(arguments)?;
    let device = arguments.run.device.as_deref().map(Device::parse).transpose();
    let device = device.and_then(|device| device.map(Device::shell).transpose()).map_err(|error| vec![error])?;
    match (&arguments.recording, device) {
        (None, None) => here(session, arguments),
        (Some(file), _) => {
            let bytes = session.system.read(file).map_err(|error| vec![unreadable(file, &error)])?;
            elsewhere(session, arguments, &bytes, &format!("`{}`", file.display()))
        }
        (None, Some(device)) => {
            let bytes = on_device::record(session, arguments, &device)?;
            elsewhere(session, arguments, &bytes, "the recording of the device")
        }
    }
}

/// Refuses options of `etbuild run` that a trace has no use for.
fn refuse(arguments: &arguments::Trace) -> Result<(), Vec<Diagnostic>> {
    let run = &arguments.run;
    let usage = |message: &str, help| Err(vec![Diagnostic::error(Code::Usage, message).help(help)]);
    if run.bundled {
        return usage("`--bundled` is an option of `etbuild run`", "leave `--bundled` out");
    }
    if run.outputs.is_some() || run.inputs.is_none() && (run.scalars.is_some() || !run.input_names.is_empty()) {
        let message = "`--outputs` is an option of `etbuild run`, and `--scalars` and `--input-names` need `--inputs`";
        return usage(message, "leave these options out");
    }
    let written = [&arguments.perfetto, &arguments.etdump, &arguments.etrecord];
    let written: Vec<_> = written.into_iter().flatten().collect();
    if let Some((_, path)) = written.iter().enumerate().find(|(index, path)| written[..*index].contains(path)) {
        let message = format!("two files of the trace have the path `{}`", path.display());
        return usage(&message, "give each file a path of its own");
    }
    if arguments.intermediates && run.device.is_some() {
        let message = "a recording of a device has times, and `--intermediates` keeps tensors";
        return usage(message, "keep the tensors of a run on this machine, without `--device`");
    }
    if arguments.intermediates && language::is_asked(&run.language) {
        let message = "`--intermediates` keeps the results of one execution, and a language model has many";
        return usage(message, "trace a method with `--inputs`");
    }
    Ok(())
}

/// Records and shows a run in this process.
fn here(session: &Session, arguments: &arguments::Trace) -> Outcome {
    let run = &arguments.run;
    let anatomy = looked_into(session, run)?;
    let bytes = match &anatomy {
        Some(anatomy) => FileBytes::owned(anatomy.program.clone()),
        None => FileBytes::open(&run.file).map_err(|error| vec![failed(&run.file, &error)])?,
    };
    let recorded = record(session, arguments, bytes)?;
    let names = anatomy.as_ref().map(Names::of_host).unwrap_or_default();
    finish(session, arguments, &recorded, &names, anatomy.as_ref().map(|anatomy| anatomy.recipe.name.as_str()))
}

/// Shows the recording of a binary, with the names of the model that the binary was made of.
fn elsewhere(session: &Session, arguments: &arguments::Trace, bytes: &[u8], which: &str) -> Outcome {
    let malformed = |problem: &str| {
        let message = format!("{which} {problem}");
        vec![Diagnostic::error(Code::RecordingMismatch, message).help(
            "name the file that the binary wrote with `--trace`, and the model, the target and the options that the binary was made of",
        )]
    };
    let recording = Recording::parse(bytes).ok_or_else(|| malformed("is no recording, or is damaged"))?;
    let recorded = Recorded { recording, inputs: GivenInputs::Unknown };
    if is_program(session, &arguments.run.file).map_err(|diagnostic| vec![diagnostic])? {
        return finish(session, arguments, &recorded, &Names::default(), None);
    }
    let request = on_device::request(session, &arguments.run, None)?;
    let mut found = anatomy(&session.world(Mode::Build)?, &request, &[])?;
    let anatomy = match (found.pop(), found.is_empty()) {
        (Some(anatomy), true) => anatomy,
        _ => return Err(vec![on_device::not_one_target("a recording is of the binary of one target")]),
    };
    if !anatomy.diagnostics.is_empty() {
        return Err(anatomy.diagnostics);
    }
    let names = Names::of_deploy(&anatomy);
    if !names.fit(&recorded.recording) {
        return Err(malformed(&format!("is not of `{}` for `{}`", anatomy.recipe, anatomy.target)));
    }
    finish(session, arguments, &recorded, &names, Some(&anatomy.recipe))
}

/// Writes the files that the arguments name, and shows the profile.
fn finish(
    session: &Session,
    arguments: &arguments::Trace,
    Recorded { recording, inputs }: &Recorded,
    names: &Names<'_>,
    recipe: Option<&str>,
) -> Outcome {
    let profile = Profile::of(recording, names);
    let graph = arguments.etrecord.as_ref().map(|_| exported(arguments, &profile, names)).transpose()?;
    if let Some(path) = &arguments.perfetto {
        write(session, path, perfetto(recording, &profile, names).to_string().as_bytes())?;
    }
    if let Some(path) = &arguments.etdump {
        let EtDump { dump, buffer } = etdump(recording, &profile, names);
        // The buffer first: a dump never lies beside the buffer of another.
        if arguments.intermediates {
            write(session, &debug_buffer(path), &buffer)?;
        }
        write(session, path, &dump)?;
    }
    if let (Some(path), Some(graph)) = (&arguments.etrecord, graph) {
        let record = etrecord(&graph, (recording, &profile, names), inputs);
        write(session, path, &record.map_err(|error| vec![unwritable(path, &error.into())])?)?;
    }
    show(session, &profile, recipe);
    Ok(Vec::new())
}

/// The graph of `torch.export` that the recorded method was made of.
fn exported(
    arguments: &arguments::Trace,
    profile: &Profile,
    names: &Names<'_>,
) -> Result<ExportedGraph, Vec<Diagnostic>> {
    let file = arguments.run.file.display();
    let usage = |message: String, help| vec![Diagnostic::error(Code::Usage, message).help(help)];
    let [method] = &profile.methods[..] else {
        let message = format!("an ETRecord is of one method, and {} methods ran", profile.methods.len());
        return Err(usage(message, "trace a method with `--method`, or leave `--etrecord` out"));
    };
    let archive = names.archive(&method.method).ok_or_else(|| {
        let message = format!("an ETRecord contains the graph of `torch.export`, and `{file}` has none");
        usage(message, "name a `.pt2` archive, or a recipe of one")
    })?;
    exported_graph(archive).map_err(|error| {
        usage(format!("`{file}` has a graph that no ETRecord can contain: {error}"), "leave `--etrecord` out")
    })
}

/// A recording, and the inputs of the executions.
struct Recorded {
    recording: Recording,
    inputs: GivenInputs,
}

fn record(session: &Session, arguments: &arguments::Trace, bytes: FileBytes) -> Result<Recorded, Vec<Diagnostic>> {
    let run = &arguments.run;
    let recorder = Arc::new(Recorder::new(if arguments.intermediates { Keep::Everything } else { Keep::Times }));
    let observer: Arc<dyn Observer> = recorder.clone();
    if language::is_asked(&run.language) {
        language::run(session, run, bytes, Some(&observer))?;
        return Ok(Recorded { recording: recorder.take(), inputs: GivenInputs::Unknown });
    }
    let threads = run.threads.unwrap_or_else(default_threads);
    let engines = Engines::new(ENGINES, threads).observed_by(observer);
    let (mut module, names) = load(run, bytes, &engines)?;
    let failed = |error| vec![failed(&run.file, &error)];
    if run.inputs.is_none() {
        module.set_zeros().map_err(failed)?;
        let recording = repeat(arguments, &recorder, || module.execute().map_err(failed))?;
        return Ok(Recorded { recording, inputs: GivenInputs::Zeros });
    }
    with_inputs(session, run, (module, names), |mut module, tensors| {
        let recording = repeat(arguments, &recorder, || run_cases(&mut module, tensors).map(|_| ()).map_err(failed))?;
        let array = |view: &TensorView<'_>| Array {
            scalar_type: view.scalar_type,
            shape: view.shape.clone(),
            bytes: view.bytes.to_vec(),
        };
        let arrays = tensors.iter().map(|(name, view)| (name.clone(), array(view)));
        Ok(Recorded { recording, inputs: GivenInputs::Tensors(arrays.collect()) })
    })
}

/// Runs the warm-up, which is not recorded, and then the recorded executions.
fn repeat(
    arguments: &arguments::Trace,
    recorder: &Recorder,
    mut run: impl FnMut() -> Result<(), Vec<Diagnostic>>,
) -> Result<Recording, Vec<Diagnostic>> {
    (0..arguments.warmup).try_for_each(|_| run())?;
    recorder.take();
    // Results are kept of one execution only.
    let count = if arguments.intermediates { 1 } else { arguments.iters.max(1) };
    (0..count).try_for_each(|_| run())?;
    Ok(recorder.take())
}

/// The debug buffer beside an ETDump.
fn debug_buffer(dump: &Path) -> PathBuf {
    let mut name = dump.as_os_str().to_owned();
    name.push(".debug");
    name.into()
}

fn write(session: &Session, path: &Path, bytes: &[u8]) -> Result<(), Vec<Diagnostic>> {
    session.system.write(path, bytes, false).map_err(|error| vec![unwritable(path, &error)])
}

fn show(session: &Session, profile: &Profile, recipe: Option<&str>) {
    let memory = gpu::peak_memory();
    let value = serde_json::json!({
        "recipe": recipe,
        "methods": profile.methods, "left_out": profile.left_out,
        "gpu_memory": memory.as_ref().map(|memory| &memory.value),
    });
    let memory = memory.map(|memory| format!("\n\n{}", memory.text)).unwrap_or_default();
    session.terminal.succeed("trace", value, &(profile_text(profile) + &memory));
}
