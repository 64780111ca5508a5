//! The commands.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use super::AppSpec;
use super::arguments::Subject;
use crate::TensorView;
use crate::bench::milliseconds;
use crate::{
    Array, Bench, DataFiles, Effort, Engines, Error, FileBytes, Kernels, Module, default_threads, read_tensors,
    run_cases, write_tensors,
};

/// Runs a method on a file of tensors and writes a file of tensors and texts.
pub(super) fn run(spec: &AppSpec, subject: &Subject) -> Result<String, Error> {
    let (mut module, _) = load(spec, subject)?;
    run_and_write(&mut module, subject)?;
    Ok(String::new())
}

fn run_and_write(module: &mut Module, subject: &Subject) -> Result<(), Error> {
    let Some(outputs) = &subject.outputs else { return Ok(()) };
    let arrays = match &subject.inputs {
        Some(inputs) => with_tensors(inputs, module, run_cases)?,
        None => run_cases(module, &BTreeMap::new())?,
    };
    write(outputs, &arrays, &module.outputs()?.texts)
}

/// Measures a method on a file of tensors, or on zeros; writes the outputs where the command line names a file.
pub(super) fn bench(spec: &AppSpec, subject: &Subject, effort: Effort) -> Result<String, Error> {
    let (mut module, mut bench) = load(spec, subject)?;
    match &subject.inputs {
        Some(inputs) => with_tensors(inputs, &mut module, Module::set_inputs)?,
        None => set_zeros(&mut module)?,
    }
    bench.measure(&mut module, effort)?;
    run_and_write(&mut module, subject)?;
    Ok(bench.to_string())
}

fn load(spec: &AppSpec, subject: &Subject) -> Result<(Module, Bench), Error> {
    let start = Instant::now();
    let (file, beside) = spec.program.open()?;
    let data = DataFiles::open(&beside.or_named(&subject.data, subject.adapter.as_deref()))?;
    let load_ms = milliseconds(start);
    let start = Instant::now();
    let engines = Engines::new(spec.engines, subject.threads.unwrap_or_else(default_threads));
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
    module: &mut Module,
    use_them: impl FnOnce(&mut Module, &BTreeMap<String, TensorView<'_>>) -> Result<T, Error>,
) -> Result<T, Error> {
    let bytes = FileBytes::open(path)?;
    let tensors = read_tensors(&bytes, module.input_names());
    let tensors = tensors.map_err(|source| Error::Inputs { path: path.to_owned(), source })?;
    use_them(module, &tensors)
}

fn write(path: &Path, arrays: &BTreeMap<String, Array>, texts: &BTreeMap<String, String>) -> Result<(), Error> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        write_tensors(path, arrays, texts, &mut out)?;
        out.flush()
    });
    written.map_err(|source| Error::File { path: path.to_owned(), source })
}

fn set_zeros(module: &mut Module) -> Result<(), Error> {
    for index in 0..module.input_names().len() {
        if let Some(wanted) = module.input_type(index)? {
            module.set_input(index, &Array::zeros(wanted.scalar_type, &wanted.shape).view())?;
        }
    }
    Ok(())
}
