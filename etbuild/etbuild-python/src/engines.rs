//! The kernels and backends of the extension module.

use et_module::checked_threads;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A number of threads, where 0 stands for a thread per physical core.
pub fn threads(number: usize) -> PyResult<usize> {
    checked_threads(number).map_err(PyValueError::new_err)
}

/// The names of the backends.
#[pyfunction]
pub fn backends() -> Vec<&'static str> {
    etbuild_run::backends::names()
}

/// The names of the operators with a portable kernel, such as `aten::add.out`.
#[pyfunction]
pub fn operators() -> Vec<&'static str> {
    etbuild_run::operators()
}
