//! The commands.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use super::AppSpec;
use super::arguments::Subject;
use super::outcome::Failure;
use super::trace::Tracing;
use crate::TensorView;
use crate::bench::milliseconds;
use crate::{
    Array, Bench, DEFAULT_TOP_K, DataFiles, Effort, Engines, Error, FileBytes, Kernels, MediaFormat, Module, Named,
    ReadMedia, class_lines, default_threads, read_media, read_tensors, run_cases, write_tensors,
};

/// Runs a method on a file of tensors, a picture or a recording; writes a file of tensors and texts, and returns the lines of the
/// most probable classes.
pub(super) fn run(spec: &AppSpec, subject: &Subject) -> Result<String, Failure> {
    let (mut module, _) = load(spec, subject).map_err(Failure::failed)?;
    if subject.outputs.is_none() && subject.top_k.is_none() && module.labels().is_none() {
        return Err(Failure::Usage("--outputs is required, or --top-k for a classifier".to_owned()));
    }
    run_and_write(spec, &mut module, subject).map_err(Failure::failed)
}

fn run_and_write(spec: &AppSpec, module: &mut Module, subject: &Subject) -> Result<String, Error> {
    let arrays = match &subject.inputs {
        Some(inputs) => with_tensors(inputs, spec.media, module, run_cases)?,
        None => run_cases(module, &Named::new())?,
    };
    if let Some(outputs) = &subject.outputs {
        write(outputs, &arrays, &module.outputs()?.texts)?;
    }
    match subject.top_k.or(subject.outputs.is_none().then_some(DEFAULT_TOP_K)) {
        Some(count) => {
            module.classes(arrays.get("output_0"), count).map(|cases| class_lines(&cases)).map_err(Error::Classes)
        }
        None => Ok(String::new()),
    }
}

/// Measures a method on a file of tensors, a picture or a recording, or on zeros; writes the outputs where the command line names a file.
pub(super) fn bench(spec: &AppSpec, subject: &Subject, effort: Effort) -> Result<String, Error> {
    let (mut module, mut bench) = load(spec, subject)?;
    match &subject.inputs {
        Some(inputs) => with_tensors(inputs, spec.media, &mut module, Module::set_inputs)?,
        None => module.set_zeros()?,
    }
    bench.measure(&mut module, effort)?;
    if subject.outputs.is_some() {
        run_and_write(spec, &mut module, &Subject { top_k: None, ..subject.clone() })?;
    }
    Ok(bench.to_string())
}

/// Records executions on a file of tensors, a picture or a recording, or on zeros, after a warm-up that is not recorded.
pub(super) fn trace(spec: &AppSpec, subject: &Subject, effort: Effort, tracing: Tracing) -> Result<String, Error> {
    let (mut module, _) = load_with(spec, subject, |engines| engines.observed_by(tracing.observer().clone()))?;
    let rounds = |module: &mut Module, execute: &dyn Fn(&mut Module) -> Result<(), Error>| {
        (0..effort.warmup).try_for_each(|_| execute(module))?;
        tracing.restart();
        (0..effort.iterations.max(1)).try_for_each(|_| execute(module))
    };
    match &subject.inputs {
        Some(inputs) => with_tensors(inputs, spec.media, &mut module, |module, tensors| {
            rounds(module, &|module| run_cases(module, tensors).map(|_| ()))
        })?,
        None => {
            module.set_zeros()?;
            rounds(&mut module, &Module::execute)?;
        }
    }
    tracing.finish()?;
    if subject.outputs.is_some() || subject.top_k.is_some() {
        return run_and_write(spec, &mut module, subject);
    }
    Ok(String::new())
}

fn load(spec: &AppSpec, subject: &Subject) -> Result<(Module, Bench), Error> {
    load_with(spec, subject, |engines| engines)
}

fn load_with(
    spec: &AppSpec,
    subject: &Subject,
    observed: impl FnOnce(Engines) -> Engines,
) -> Result<(Module, Bench), Error> {
    let start = Instant::now();
    let (file, beside) = spec.program.open()?;
    let data = DataFiles::open(&beside.or_named(&subject.data, subject.adapter.as_deref()))?;
    let load_ms = milliseconds(start);
    let start = Instant::now();
    let engines = observed(Engines::new(spec.engines, subject.threads.unwrap_or_else(default_threads)));
    let module = load_method(spec, subject.method.as_deref(), file, data, &engines)?;
    let bench = Bench { load_ms, init_ms: milliseconds(start), threads: engines.threads(), ..Bench::default() };
    Ok((module, bench))
}

/// The method with the names of the inputs, which the program file holds for methods that the binary does not know.
fn load_method(
    spec: &AppSpec,
    method: Option<&str>,
    file: FileBytes,
    data: DataFiles,
    engines: &Engines,
) -> Result<Module, Error> {
    let name = method.unwrap_or(spec.method);
    let module = Module::load_method(file, data, name, Kernels::Selected(spec.kernels), engines)?;
    if name == spec.method {
        return Ok(module.with_input_names(spec.input_names));
    }
    let stored = module.stored_input_names().unwrap_or_default();
    let stored: Vec<&str> = stored.iter().map(String::as_str).collect();
    Ok(module.with_input_names(&stored))
}

fn with_tensors<T>(
    path: &Path,
    media: Option<ReadMedia>,
    module: &mut Module,
    use_them: impl FnOnce(&mut Module, &Named<TensorView<'_>>) -> Result<T, Error>,
) -> Result<T, Error> {
    let bytes = FileBytes::open(path)?;
    if let Some(format) = MediaFormat::of(&bytes) {
        let (name, array) = read_media(path, &bytes, format, module, media)?;
        return use_them(module, &Named::from([(name, array.view())]));
    }
    let tensors = read_tensors(&bytes, module.input_names());
    let tensors = tensors.map_err(|source| Error::Inputs { path: path.to_owned(), source })?;
    use_them(module, &tensors)
}

fn write(path: &Path, arrays: &Named<Array>, texts: &Named<String>) -> Result<(), Error> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        write_tensors(path, arrays, texts, &mut out)?;
        out.flush()
    });
    written.map_err(|source| Error::File { path: path.to_owned(), source })
}
