//! A loaded method.

use et_module::recording::Recorder;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::argument;
use crate::exclusive::without_interpreter;
use crate::failure::{input_error, run_failed, usage};
use crate::interrupt::Watch;
use crate::library::Library;
use crate::loaded::{Loaded, LoadedMethod};
use crate::output;
use crate::program::Program;

/// A method of a program. Calls of one program's methods take turns.
#[pyclass(frozen, subclass, module = "etbuild._native")]
pub struct Method {
    program: Py<Program>,
    index: usize,
}

#[pymethods]
impl Method {
    /// Loads the method of this name.
    #[new]
    fn new(program: &Bound<'_, Program>, name: &str) -> PyResult<Self> {
        let index = program.get().lock(program.py())?.load(name).map_err(|error| run_failed(program.py(), &error))?;
        Ok(Self { program: program.clone().unbind(), index })
    }

    /// Runs the method; returns the output, or a tuple of several outputs.
    #[pyo3(signature = (*inputs, **named))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.with(py, |method| {
            let mut library = set_tuple(method, inputs)?;
            library = library.or(set_rest(py, method, inputs.len(), named)?);
            run(py, method)?;
            let mut outputs = output::all(py, method, library.unwrap_or(Library::NumPy))?;
            match (outputs.len(), outputs.pop()) {
                (1, Some(only)) => Ok(only),
                (_, last) => Ok(PyTuple::new(py, outputs.into_iter().chain(last).collect::<Vec<_>>())?.into_any()),
            }
        })
    }

    /// Runs the method on a sequence of inputs; returns the list of outputs.
    fn execute<'py>(&self, inputs: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = inputs.py();
        self.with(py, |method| {
            let library = set_all(method, inputs)?;
            run(py, method)?;
            PyList::new(py, output::all(py, method, library.unwrap_or(Library::NumPy))?)
        })
    }

    /// Sets the inputs, for `run`.
    fn set_inputs(&self, inputs: &Bound<'_, PyAny>) -> PyResult<()> {
        self.with(inputs.py(), |method| {
            method.memory.library = set_all(method, inputs)?;
            Ok(())
        })
    }

    /// Runs the method on the inputs that were set.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |method| run(py, method))
    }

    /// The outputs of the last execution, in the library of the inputs that were set last.
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.with(py, |method| {
            let library = method.memory.library.unwrap_or(Library::NumPy);
            PyList::new(py, output::all(py, method, library)?)
        })
    }

    /// The state of this name as a tensor.
    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.with(py, |method| {
            let state = method.method.state(name).map_err(|error| run_failed(py, &error))?;
            output::array(py, &state.ok_or_else(|| usage(py, &format!("the method has no state {name}")))?)
        })
    }

    /// The names of the inputs.
    #[getter]
    fn input_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |method| Ok(method.method.input_names().to_vec()))
    }
}

impl Method {
    fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut LoadedMethod<'_>) -> PyResult<R>) -> PyResult<R> {
        let mut loaded = self.program.get().lock(py)?;
        let method = Loaded::method(&mut loaded, self.index);
        work(&mut method.ok_or_else(|| usage(py, "the method is not loaded"))?)
    }
}

fn set_tuple(method: &mut LoadedMethod<'_>, inputs: &Bound<'_, PyTuple>) -> PyResult<Option<Library>> {
    let mut library = None;
    for (index, input) in inputs.iter_borrowed().enumerate() {
        library = library.or(argument::set(&mut method.method, index, &input)?);
    }
    Ok(library)
}

/// Sets the inputs from a list or a tuple, or the only input.
fn set_all(method: &mut LoadedMethod<'_>, inputs: &Bound<'_, PyAny>) -> PyResult<Option<Library>> {
    let (library, count) = if let Ok(list) = inputs.cast::<PyList>() {
        (set_tuple(method, &list.to_tuple())?, list.len())
    } else if let Ok(tuple) = inputs.cast::<PyTuple>() {
        (set_tuple(method, tuple)?, tuple.len())
    } else {
        (argument::set(&mut method.method, 0, inputs)?, 1)
    };
    Ok(library.or(set_rest(inputs.py(), method, count, None)?))
}

/// Sets the inputs behind the first `count` from named arguments; an input that the export fixed may be left out.
fn set_rest(
    py: Python<'_>,
    method: &mut LoadedMethod<'_>,
    count: usize,
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Library>> {
    let names = method.method.input_names();
    if count == names.len() && named.is_none() {
        return Ok(None);
    }
    let names = names.to_vec();
    if let Some(named) = named {
        check_names(py, &names, count, named)?;
    }
    let mut library = None;
    for (index, name) in names.iter().enumerate().skip(count) {
        if let Some(input) = named.map(|named| named.get_item(name)).transpose()?.flatten() {
            library = library.or(argument::set(&mut method.method, index, &input)?);
        } else if method.method.input_type(index).map_err(|error| run_failed(py, &error))?.is_some() {
            return Err(input_error(py, &format!("input {name}: not given")));
        }
    }
    Ok(library)
}

/// Checks that arguments have names of inputs behind the first `count`.
fn check_names(py: Python<'_>, names: &[String], count: usize, named: &Bound<'_, PyDict>) -> PyResult<()> {
    let given: Vec<String> = named.keys().iter().map(|name| name.to_string()).collect();
    if given.iter().any(|name| !names.contains(name)) {
        let message = format!("named inputs {} were given, the method has {}", given.join(", "), names.join(", "));
        return Err(input_error(py, &message));
    }
    match names.iter().take(count).find(|name| given.contains(name)) {
        Some(twice) => Err(input_error(py, &format!("input {twice}: given by position and by name"))),
        None => Ok(()),
    }
}

/// Executes the method while other threads run Python.
fn run(py: Python<'_>, method: &mut LoadedMethod<'_>) -> PyResult<()> {
    let mut watch = Watch::default();
    let done = without_interpreter(py, &mut method.method, |method| method.run_while(|| watch.goes_on()));
    match done {
        Ok(true) => complete(py, method),
        Ok(false) => watch.raised(),
        Err(error) => Err(run_failed(py, &error)),
    }
}

/// Fails where the tensors of the executions are more than the debug buffer holds.
fn complete(py: Python<'_>, method: &LoadedMethod<'_>) -> PyResult<()> {
    match method.recorder.and_then(Recorder::excess) {
        Some(bytes) => Err(usage(
            py,
            &format!("the debug buffer is too small: the tensors since the last ETDump have {bytes} bytes"),
        )),
        None => Ok(()),
    }
}
