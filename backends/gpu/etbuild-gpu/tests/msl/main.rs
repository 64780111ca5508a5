//! Kernels in MSL, compiled as C++ and executed on the CPU of this machine, since no machine of Apple is there: the operator catalogue.

#[path = "../common/mod.rs"]
mod common;
mod compile;
mod delegate;

use std::path::Path;

use common::{CPU_DRIVER, target};
use compile::compile;
use delegate::{EXECUTING, NOTED_ONLY, NOTING, execute_by, noted};
use etbuild_backend::{GpuApi, GpuFacts};
use etbuild_conformance::{Candidate, check_targets};
use etbuild_gpu::BACKEND;

/// A GPU of Apple.
const APPLE: GpuFacts = GpuFacts {
    api: GpuApi::Metal { msl: [2, 3] },
    images: false,
    max_buffer: 256,
    subgroup: 32,
    units: 16,
    zero_clamp: false,
    float64: false,
    ..CPU_DRIVER
};

/// GPUs of many units, and of one, with the largest tiles.
const CLASSES: [GpuFacts; 2] = [APPLE, GpuFacts { units: 1, ..APPLE }];

#[test]
fn kernels_compute_the_expected_outputs() {
    let targets = CLASSES.map(|gpu| target(vec![gpu]));
    let noting = Candidate { backend: &BACKEND, engines: NOTING, target: &targets[0], threads: 1, tolerance: 1e-5 };
    // A kernel that naga refuses is another problem.
    let problems = check_targets(&noting, &targets.each_ref()).unwrap_err();
    let others: Vec<_> = problems.iter().filter(|problem| !problem.contains(NOTED_ONLY)).collect();
    assert!(others.is_empty(), "{others:?}");
    let kernels = noted();
    assert!(kernels.len() > 500, "{}", kernels.len());
    execute_by(compile(&kernels, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("msl")));
    let executing = Candidate { engines: EXECUTING, ..noting };
    let tallies = check_targets(&executing, &targets.each_ref());
    let tallies = tallies.unwrap_or_else(|problems| panic!("{}: {}", problems.len(), problems.join("\n")));
    assert!(tallies.iter().all(|tally| tally.taken > 1000), "{tallies:?}");
}
