//! What the commands do.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::arguments::Files;
use super::{AppSpec, ProgramSource};
use crate::bench::milliseconds;
use crate::safetensors::{self, SafeTensors, TensorView};
use crate::{Array, Bench, Effort, Error, FileBytes, Kernels, Module, run_cases};

/// Runs the model on a file of tensors and writes a file of tensors.
pub(super) fn run(spec: &AppSpec, files: &Files) -> Result<String, Error> {
    let (mut module, _) = load(spec)?;
    let (Some(inputs), Some(outputs)) = (&files.inputs, &files.outputs) else { return Ok(String::new()) };
    let arrays = with_tensors(inputs, |tensors| run_cases(&mut module, tensors))?;
    write(outputs, &arrays)?;
    Ok(String::new())
}

/// Measures the model on a file of tensors, or on zeros.
pub(super) fn bench(spec: &AppSpec, files: &Files, effort: Effort) -> Result<String, Error> {
    let (mut module, mut bench) = load(spec)?;
    match &files.inputs {
        Some(inputs) => with_tensors(inputs, |tensors| module.set_inputs(tensors))?,
        None => set_zeros(&mut module)?,
    }
    bench.measure(&mut module, effort)?;
    Ok(bench.to_string())
}

fn load(spec: &AppSpec) -> Result<(Module, Bench), Error> {
    let start = Instant::now();
    let file = match spec.program {
        ProgramSource::Embedded(bytes) => FileBytes::embedded(bytes),
        ProgramSource::Beside(name) => FileBytes::open(&beside_binary(name))?,
    };
    let load_ms = milliseconds(start);
    let start = Instant::now();
    let module = Module::load(file, Kernels::Selected(spec.kernels))?.with_input_names(spec.input_names);
    let bench = Bench { load_ms, init_ms: milliseconds(start), threads: 1, ..Bench::default() };
    Ok((module, bench))
}

fn beside_binary(name: &str) -> PathBuf {
    std::env::current_exe().unwrap_or_default().with_file_name(name)
}

fn with_tensors<T>(
    path: &Path,
    use_them: impl FnOnce(&BTreeMap<String, TensorView<'_>>) -> Result<T, Error>,
) -> Result<T, Error> {
    let bytes = FileBytes::open(path)?;
    let file = SafeTensors::parse(&bytes);
    let file = file.map_err(|source| Error::Safetensors { path: path.to_owned(), source })?;
    use_them(&file.tensors)
}

fn write(path: &Path, arrays: &BTreeMap<String, Array>) -> Result<(), Error> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        safetensors::write(arrays, &mut out)?;
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
