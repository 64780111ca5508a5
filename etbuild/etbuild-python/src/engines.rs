//! The kernels and backends of the extension module.

use et_module::{Engine, checked_threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The delegates that run the blobs of program files. The command `etbuild` has the same list with the host halves.
pub static ENGINES: &[Engine] = &[
    // A row per backend.
    Engine { id: et_cpu::ID, make: |host| Box::new(et_cpu::delegate(host.workers)), problem: || None },
    Engine { id: et_cortex_m::ID, make: |host| Box::new(et_cortex_m::delegate(host.workers)), problem: || None },
    Engine { id: et_ethos_u::ID, make: |host| Box::new(et_ethos_u::delegate(host.workers)), problem: || None },
    Engine { id: et_gpu::ID, make: |host| Box::new(et_gpu::delegate(host.workers)), problem: et_gpu::problem },
    Engine { id: et_qnn::ID, make: |host| Box::new(et_qnn::delegate(host.workers)), problem: et_qnn::problem },
];

/// The portable kernel of an operator.
pub fn kernel(name: &str, overload: &str) -> Option<et_core::Kernel> {
    let name = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    et_ops::find_kernel(&name)
}

/// A number of threads, where 0 stands for a thread per physical core.
pub fn threads(number: usize) -> PyResult<usize> {
    checked_threads(number).map_err(PyValueError::new_err)
}

/// The names of the backends.
#[pyfunction]
pub fn backends() -> Vec<&'static str> {
    ENGINES.iter().map(|engine| engine.id).collect()
}

/// The names of the operators with a portable kernel, such as `aten::add.out`.
#[pyfunction]
pub fn operators() -> Vec<&'static str> {
    et_ops::OPERATORS
        .iter()
        .map(|operator| operator.name())
        .chain(et_ops::PRIMITIVES.iter().map(|primitive| primitive.name()))
        .collect()
}
