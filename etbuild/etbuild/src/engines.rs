//! The backends of this etbuild, listed here only.

use std::sync::LazyLock;

use et_module::Engine;
use etbuild_backend::Backend;

/// The names for `partition:` besides `portable`.
pub static BACKENDS: &[&dyn Backend] = &[
    // A row per backend; `ENGINES` needs a row too.
    &etbuild_cpu::BACKEND,
    &etbuild_ethos_u::BACKEND,
    &etbuild_cortex_m::BACKEND,
    #[cfg(feature = "gpu")]
    &etbuild_gpu::BACKEND,
    &etbuild_qnn::BACKEND,
];

/// The same with the simulation of each backend that has one in place of the backend.
pub static SIMULATED: LazyLock<Vec<&dyn Backend>> = LazyLock::new(|| {
    let simulated = |backend: &&'static dyn Backend| backend.simulation().map_or(*backend, |found| found.backend);
    BACKENDS.iter().map(simulated).collect()
});

/// The delegates that run the blobs on this machine.
pub static ENGINES: &[Engine] = &[
    // A row per backend; `BACKENDS` needs a row too.
    Engine {
        id: et_cpu::ID,
        make: |host| match host.listener() {
            Some(listener) => Box::new(et_cpu::reporting_delegate(host.workers, listener)),
            None => Box::new(et_cpu::delegate(host.workers)),
        },
        problem: || None,
    },
    Engine {
        id: et_ethos_u::ID,
        make: |host| Box::new(etbuild_ethos_u::delegate(host.workers)),
        problem: etbuild_ethos_u::problem,
    },
    Engine { id: et_cortex_m::ID, make: |host| Box::new(et_cortex_m::delegate(host.workers)), problem: || None },
    #[cfg(feature = "gpu")]
    Engine {
        id: et_gpu::ID,
        make: |host| match host.listener() {
            Some(listener) => Box::new(et_gpu::reporting_delegate(host.workers, listener)),
            None => Box::new(et_gpu::delegate(host.workers)),
        },
        problem: et_gpu::problem,
    },
    Engine { id: et_qnn::ID, make: |host| Box::new(et_qnn::delegate(host.workers)), problem: et_qnn::problem },
];

/// The delegates that simulate NPUs. They trust their blobs, so they execute programs that this command has just compiled, and no files.
pub static SIMULATIONS: &[Engine] = &[Engine {
    id: etbuild_qnn::SIMULATION_ID,
    make: |host| Box::new(etbuild_qnn::delegate(host.workers)),
    problem: || None,
}];

/// The portable kernel of an operator.
pub fn kernel(name: &str, overload: &str) -> Option<et_core::Kernel> {
    let name = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    et_ops::find_kernel(&name)
}
