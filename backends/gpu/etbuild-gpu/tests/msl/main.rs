//! Kernels in MSL, compiled as C++ and executed on the CPU of this machine, since no machine of Apple is there: the operator catalogue,
//! and programs of several tiles.

#[path = "../common/mod.rs"]
mod common;
mod compile;
mod delegate;

use std::path::Path;

use common::large::{self, Large};
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
    units: 10,
    zero_clamp: false,
    float64: false,
    ..CPU_DRIVER
};

/// GPUs of several units, and of one, with the largest tiles.
const CLASSES: [GpuFacts; 2] = [APPLE, GpuFacts { units: 1, ..APPLE }];

/// Programs that are split, that meet at barriers, and that share workgroup memory.
fn programs() -> Vec<Large> {
    let (rows, parts) = (large::attention(100, 250), large::attention(1, 350));
    vec![
        large::product(),
        large::few_rows(),
        large::convolution(),
        large::first_layer(),
        large::row(),
        large::fold(),
        rows,
        parts,
    ]
}

#[test]
fn kernels_compute_what_portable_kernels_compute() {
    let targets = CLASSES.map(|gpu| target(vec![gpu]));
    let [first, ..] = &targets;
    let noting = Candidate { backend: &BACKEND, engines: NOTING, target: first, threads: 1, tolerance: 1e-5 };
    // A kernel that naga refuses is another problem.
    let mut problems = check_targets(&noting, &targets.each_ref()).unwrap_err();
    let on = |target| Candidate { target, ..noting };
    let programs = programs();
    problems.extend(
        programs.iter().flat_map(|program| targets.each_ref().map(|target| program.result(&on(target)).unwrap_err())),
    );
    let others: Vec<_> = problems.iter().filter(|problem| !problem.contains(NOTED_ONLY)).collect();
    assert!(others.is_empty(), "{others:?}");
    let kernels = noted();
    assert!(kernels.len() > 500, "{}", kernels.len());
    execute_by(compile(&kernels, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("msl")));
    let executing = Candidate { engines: EXECUTING, ..noting };
    let tallies = check_targets(&executing, &targets.each_ref());
    let tallies = tallies.unwrap_or_else(|problems| panic!("{}: {}", problems.len(), problems.join("\n")));
    assert!(tallies.iter().all(|tally| tally.taken > 1000), "{tallies:?}");
    let without = target(Vec::new());
    let portable = Candidate { target: &without, ..noting };
    for (program, target) in programs.iter().flat_map(|program| targets.iter().map(move |target| (program, target))) {
        program.check(&Candidate { target, ..executing }, &portable);
    }
}
