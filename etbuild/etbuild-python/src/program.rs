//! A program file.

use std::path::PathBuf;
use std::sync::Arc;

use et_module::recording::{EtDump, Keep, Recorder, as_recorded, etdump};
use et_module::{Engines, FileBytes, is_bundled};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::describe::{MethodFacts, describe};
use crate::engines::{ENGINES, threads};
use crate::exclusive::{Exclusive, Held};
use crate::failure::{failed, usage};
use crate::loaded::Loaded;

/// A data file: the path, or the bytes.
#[derive(FromPyObject)]
enum DataSource {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

impl DataSource {
    fn open(self, py: Python<'_>) -> PyResult<FileBytes> {
        match self {
            Self::Bytes(bytes) => Ok(FileBytes::copied(&bytes)),
            Self::Path(path) => FileBytes::open(&path).map_err(|error| failed(py, &error)),
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
        let file = FileBytes::open(&path).map_err(|error| failed(py, &error))?;
        Self::new(py, (file, data), threads, debug_buffer)
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
        Self::new(py, (FileBytes::copied(content), data), threads, debug_buffer)
    }

    /// The names of the methods, in the order of the file.
    fn method_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.lock(py)?.names().map_err(|error| failed(py, &error.into()))
    }

    /// Whether the file is a bundled program, which has test cases.
    fn is_bundled(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(is_bundled(&self.lock(py)?.file))
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
        describe(&self.lock(py)?.file, name).map_err(|error| failed(py, &error))
    }
}

impl Program {
    fn new(
        py: Python<'_>,
        (file, data): (FileBytes, Vec<DataSource>),
        number: usize,
        debug_buffer: Option<usize>,
    ) -> PyResult<Self> {
        let data = data.into_iter().map(|source| source.open(py)).collect::<PyResult<Vec<_>>>()?;
        let engines = Engines::new(ENGINES, threads(number)?);
        let keep = |size| if size == 0 { Keep::Times } else { Keep::Kernels(size) };
        let recorder = debug_buffer.map(|size| Arc::new(Recorder::new(keep(size))));
        let program = Self(Exclusive::new(Loaded::new(file, data, engines, recorder)));
        // A file that is no program is refused here, and not at its first method.
        program.method_names(py)?;
        Ok(program)
    }

    pub fn lock(&self, py: Python<'_>) -> PyResult<Held<'_, Loaded>> {
        self.0.lock(py)
    }
}
