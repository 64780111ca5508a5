//! The conformance suite of backends, on the Vulkan driver of this machine.

use et_module::Engine;
use etbuild_backend::{GpuFacts, TargetFacts};
use etbuild_conformance::{Candidate, check_blobs, check_cases, check_refusals, check_targets};
use etbuild_gpu::BACKEND;

static ENGINES: &[Engine] =
    &[Engine { id: et_gpu::ID, make: |host| Box::new(et_gpu::delegate(host.workers)), problem: et_gpu::problem }];

/// What Mesa's driver for CPUs has.
const IMAGES: GpuFacts = GpuFacts {
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

fn target(gpu: GpuFacts) -> TargetFacts {
    TargetFacts {
        architecture: std::env::consts::ARCH.to_owned(),
        features: Vec::new(),
        hosted: true,
        gpus: vec![gpu],
        ..TargetFacts::default()
    }
}

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads: 2, tolerance: 1e-5 }
}

/// What kernels differ by: the objects of texels, subgroups, and reads outside of images.
const LAYOUTS: [GpuFacts; 6] = [
    IMAGES,
    GpuFacts { images: false, subgroup: 0, ..IMAGES },
    // GPUs with workgroup memory: small tiles for many units, large tiles for one.
    GpuFacts { units: 1, ..IMAGES },
    GpuFacts { images: false, subgroup: 32, units: 64, ..IMAGES },
    // Small images, where reads outside have no value.
    GpuFacts { max_image: 8, max_layers: 4, zero_clamp: false, ..IMAGES },
    // Arrays of images.
    GpuFacts { max_image: 8, ..IMAGES },
];

#[test]
fn accepted_cases_compute_the_expected_outputs_in_every_layout() {
    let targets = LAYOUTS.map(target);
    let [first, ..] = &targets;
    let tallies = check_targets(&candidate(first), &targets.each_ref());
    let tallies = tallies.unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    assert!(tallies.iter().all(|tally| tally.taken > 1200), "{tallies:?}");
    // With `ETBUILD_GPU_VALIDATION=1`, the validation layers watch.
    assert_eq!(et_gpu::validation_messages(), Vec::<String>::new());
}

#[test]
fn answers_are_deterministic_and_have_reasons() {
    check_refusals(&candidate(&target(IMAGES))).unwrap();
}

#[test]
fn a_target_without_gpu_is_refused() {
    let target = TargetFacts { gpus: Vec::new(), ..target(IMAGES) };
    assert_eq!(check_cases(&candidate(&target)).unwrap().taken, 0);
}

#[test]
fn damaged_blobs_are_errors() {
    check_blobs(&candidate(&target(IMAGES)), 8).unwrap();
}
