//! A program file with the loaded methods.
#![allow(unsafe_code)] // Promises that the parts of a program stay together.

use std::rc::Rc;
use std::sync::Arc;

use et_core::Shape;
use et_module::recording::Recorder;
use et_module::{DataFiles, Engines, FileBytes, Kernels, Module, program_in};
use et_runtime::Program;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde_json::Value;

use crate::engines::kernel;
use crate::exclusive::Whole;
use crate::failure::failed;
use crate::library::Library;

/// A program file with the data files and the loaded methods.
pub struct Loaded {
    pub file: Rc<FileBytes>,
    data: Vec<Rc<FileBytes>>,
    engines: Engines,
    /// The observer of the executions, for an ETDump.
    pub recorder: Option<Arc<Recorder>>,
    methods: Vec<LoadedMethod>,
}

/// A loaded method.
pub struct LoadedMethod {
    name: String,
    pub module: Module,
    /// The library of the inputs that were set last.
    pub library: Option<Library>,
    /// The arguments of `numpy.empty` for each output, with the shape that the arguments are for.
    pub arrays: Vec<Option<(Shape, Py<PyTuple>)>>,
    /// The observer of the executions.
    pub recorder: Option<Arc<Recorder>>,
}

// SAFETY: the counters (the file and the data files, and the arena that methods share) have their holders in this struct alone: no
// method leaves `Loaded`. Cells and pointers of methods and delegates lead to memory that the methods own. No data belongs to a thread:
// the thread pool takes calls from any thread.
unsafe impl Whole for Loaded {}

impl Loaded {
    /// A program whose executions the recorder observes, if there is one.
    pub fn new(file: FileBytes, data: Vec<FileBytes>, engines: Engines, recorder: Option<Arc<Recorder>>) -> Self {
        let engines = match &recorder {
            Some(recorder) => engines.observed_by(recorder.clone()),
            None => engines,
        };
        let data = data.into_iter().map(Rc::new).collect();
        Self { file: Rc::new(file), data, engines, recorder, methods: Vec::new() }
    }

    pub fn method(&mut self, index: usize) -> Option<&mut LoadedMethod> {
        self.methods.get_mut(index)
    }

    /// Loads a method, unless the method is loaded; returns the number of the method. Methods with common state are loaded together,
    /// because loading writes the first values.
    pub fn load(&mut self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let failed = |error| failed(py, &error);
        if let Some(index) = self.position(name) {
            return Ok(index);
        }
        if self.shares_state().map_err(|error| failed(error.into()))? {
            for other in self.names().map_err(|error| failed(error.into()))? {
                self.add(&other, true).map_err(failed)?;
            }
        } else {
            self.add(name, false).map_err(failed)?;
        }
        match self.position(name) {
            Some(index) => Ok(index),
            None => self.add(name, false).map(|()| self.methods.len() - 1).map_err(failed),
        }
    }

    /// The names of the methods.
    pub fn names(&self) -> et_core::Result<Vec<String>> {
        let program = Program::new(program_in(&self.file)?)?;
        (0..program.method_count()?).map(|index| Ok(program.method_at(index)?.plan().name()?.to_owned())).collect()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.methods.iter().position(|method| method.name == name)
    }

    /// Whether the methods have common state: a first arena of the same size, beside arenas of their own.
    fn shares_state(&self) -> et_core::Result<bool> {
        let program = Program::new(program_in(&self.file)?)?;
        let count = program.method_count()?;
        let mut sizes = (0..count).map(|index| {
            let plan = program.method_at(index)?;
            Ok(if plan.arena_count()? < 2 { 0 } else { plan.arena_size(0)? })
        });
        let first = sizes.next().unwrap_or(Ok(0))?;
        let same =
            sizes.try_fold(true, |same, size: et_core::Result<usize>| Ok::<_, et_core::Error>(same && size? == first));
        Ok(count > 1 && first > 0 && same?)
    }

    fn add(&mut self, name: &str, beside: bool) -> Result<(), et_module::Error> {
        let file = FileBytes::shared(&self.file);
        let data = DataFiles::of(self.data.iter().map(FileBytes::shared).collect());
        let kernels = Kernels::Lookup(&kernel);
        let module = match self.methods.first().filter(|_| beside) {
            Some(first) => first.module.load_beside(file, data, name, kernels, &self.engines)?,
            None => Module::load_method(file, data, name, kernels, &self.engines)?,
        };
        let module = named(only_results(module));
        let arrays = (0..module.output_count()?).map(|_| None).collect();
        let recorder = self.recorder.clone();
        self.methods.push(LoadedMethod { name: name.to_owned(), module, library: None, arrays, recorder });
        Ok(())
    }
}

/// The module with the names of inputs that the file has.
fn named(module: Module) -> Module {
    let names = module.stored_input_names().unwrap_or_default();
    module.with_input_names(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The module without the new values of mutated inputs: these values come before the results, whose number the file holds.
fn only_results(module: Module) -> Module {
    let tree = module.output_tree().ok().flatten().and_then(|tree| serde_json::from_str::<Value>(tree).ok());
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
