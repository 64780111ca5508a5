//! A program file.

use std::path::PathBuf;
use std::sync::Arc;

use et_module::recording::{EtDump, Keep, Recorder, as_recorded, etdump};
use etbuild_run::{Error, Loader};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::describe::{MethodFacts, describe};
use crate::engines::threads;
use crate::exclusive::{Exclusive, Held};
use crate::failure::{run_failed, usage};
use crate::loaded::Loaded;

/// A data file: the path, or the bytes.
#[derive(FromPyObject)]
enum DataSource {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

impl DataSource {
    fn add_to(self, loader: Loader) -> Loader {
        match self {
            Self::Bytes(bytes) => loader.data_bytes(&bytes),
            Self::Path(path) => loader.data(path),
        }
    }
}

/// A program file in memory. One thread at a time runs a method of a program.
#[pyclass(frozen, module = "etbuild._native")]
pub struct Program(Exclusive<Loaded>);

#[pymethods]
impl Program {
    /// Maps a program file. `debug_buffer` is the size of the debug buffer of an ETDump, in bytes; `None` for no ETDump.
    #[staticmethod]
    #[pyo3(signature = (path, data = Vec::new(), threads = 0, debug_buffer = None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        data: Vec<DataSource>,
        threads: usize,
        debug_buffer: Option<usize>,
    ) -> PyResult<Self> {
        Self::new(py, (data, threads), debug_buffer, |loader| loader.open(path))
    }

    /// Copies a program file from bytes.
    #[staticmethod]
    #[pyo3(signature = (content, data = Vec::new(), threads = 0, debug_buffer = None))]
    fn from_bytes(
        py: Python<'_>,
        content: &[u8],
        data: Vec<DataSource>,
        threads: usize,
        debug_buffer: Option<usize>,
    ) -> PyResult<Self> {
        Self::new(py, (data, threads), debug_buffer, |loader| loader.copy(content))
    }

    /// The names of the methods, in the order of the file.
    fn method_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.lock(py)?.program.method_names().map_err(|error| run_failed(py, &error))
    }

    /// Whether the file is a bundled program, which has test cases.
    fn is_bundled(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.program.is_bundled())
    }

    /// Whether executions are recorded for an ETDump.
    fn has_etdump(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.recorder.is_some())
    }

    /// The ETDump and the debug buffer of the executions since the last call.
    fn etdump<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let missing = || usage(py, "the program was loaded without `enable_etdump=True`");
        let recording = self.lock(py)?.recorder.as_ref().ok_or_else(missing)?.take();
        let EtDump { dump, buffer } = etdump(&recording, |run, facts| Some(as_recorded(run, facts)));
        Ok((PyBytes::new(py, &dump), PyBytes::new(py, &buffer)))
    }

    /// The names and types of a method's inputs and outputs.
    fn describe(&self, py: Python<'_>, name: &str) -> PyResult<MethodFacts> {
        describe(&self.lock(py)?.program, name).map_err(|error| run_failed(py, &error))
    }
}

impl Program {
    fn new(
        py: Python<'_>,
        (data, number): (Vec<DataSource>, usize),
        debug_buffer: Option<usize>,
        load: impl FnOnce(Loader) -> Result<etbuild_run::Program, Error> + Send,
    ) -> PyResult<Self> {
        let threads = threads(number)?;
        let keep = |size| if size == 0 { Keep::Times } else { Keep::Kernels(size) };
        let recorder = debug_buffer.map(|size| Arc::new(Recorder::new(keep(size))));
        // Other threads of Python go on while a large file is read.
        let program = py.detach(|| {
            let loader = data.into_iter().fold(Loader::new().threads(threads), |loader, source| source.add_to(loader));
            load(match &recorder {
                Some(recorder) => loader.observed_by(recorder.clone()),
                None => loader,
            })
        });
        let program = program.map_err(|error| run_failed(py, &error))?;
        Ok(Self(Exclusive::new(Loaded::new(program, recorder))))
    }

    pub fn lock(&self, py: Python<'_>) -> PyResult<Held<'_, Loaded>> {
        self.0.lock(py)
    }
}
