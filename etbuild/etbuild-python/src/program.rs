//! A program file.

use std::path::PathBuf;

use etbuild_run::{Error, Loader};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::describe::{MethodFacts, describe};
use crate::engines::threads;
use crate::exclusive::{Exclusive, Held};
use crate::failure::run_failed;
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
    /// Maps a program file.
    #[staticmethod]
    #[pyo3(signature = (path, data = Vec::new(), threads = 0))]
    fn open(py: Python<'_>, path: PathBuf, data: Vec<DataSource>, threads: usize) -> PyResult<Self> {
        Self::new(py, data, threads, |loader| loader.open(path))
    }

    /// Copies a program file from bytes.
    #[staticmethod]
    #[pyo3(signature = (content, data = Vec::new(), threads = 0))]
    fn from_bytes(py: Python<'_>, content: &[u8], data: Vec<DataSource>, threads: usize) -> PyResult<Self> {
        Self::new(py, data, threads, |loader| loader.copy(content))
    }

    /// The names of the methods, in the order of the file.
    fn method_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.lock(py)?.program.method_names().map_err(|error| run_failed(py, &error))
    }

    /// Whether the file is a bundled program, which has test cases.
    fn is_bundled(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.program.is_bundled())
    }

    /// The names and types of a method's inputs and outputs.
    fn describe(&self, py: Python<'_>, name: &str) -> PyResult<MethodFacts> {
        describe(&self.lock(py)?.program, name).map_err(|error| run_failed(py, &error))
    }
}

impl Program {
    fn new(
        py: Python<'_>,
        data: Vec<DataSource>,
        number: usize,
        load: impl FnOnce(Loader) -> Result<etbuild_run::Program, Error>,
    ) -> PyResult<Self> {
        let loader = Loader::new().threads(threads(number)?);
        let loader = data.into_iter().fold(loader, |loader, source| source.add_to(loader));
        Ok(Self(Exclusive::new(Loaded::new(load(loader).map_err(|error| run_failed(py, &error))?))))
    }

    pub fn lock(&self, py: Python<'_>) -> PyResult<Held<'_, Loaded>> {
        self.0.lock(py)
    }
}
