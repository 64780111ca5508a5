//! What the tests share: the delegate, and the driver of this machine.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod large;

use et_module::Engine;
use etbuild_backend::{GpuApi, GpuFacts, TargetFacts};

/// The delegate.
pub static ENGINES: &[Engine] =
    &[Engine { id: et_gpu::ID, make: |host| Box::new(et_gpu::delegate(host.workers)), problem: et_gpu::problem }];

/// What Mesa's driver for CPUs has.
pub const CPU_DRIVER: GpuFacts = GpuFacts {
    api: GpuApi::Vulkan,
    images: true,
    max_image: 16384,
    max_layers: 2048,
    max_buffer: 128,
    subgroup: 8,
    units: 0,
    zero_clamp: true,
    int64: true,
    float64: true,
};

/// This machine with these classes of GPUs.
pub fn target(gpus: Vec<GpuFacts>) -> TargetFacts {
    let architecture = std::env::consts::ARCH.to_owned();
    TargetFacts { architecture, hosted: true, gpus, ..TargetFacts::default() }
}
