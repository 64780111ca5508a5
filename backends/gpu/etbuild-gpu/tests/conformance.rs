//! The conformance suite of backends, on the Vulkan driver of this machine.

mod common;

use common::{CPU_DRIVER, ENGINES, target};
use etbuild_backend::{GpuApi, GpuFacts, TargetFacts};
use etbuild_conformance::{Candidate, check_blobs, check_cases, check_refusals, check_targets};
use etbuild_gpu::BACKEND;

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads: 2, tolerance: 1e-5 }
}

/// What kernels differ by: the objects of texels, subgroups, and reads outside of images.
const LAYOUTS: [GpuFacts; 6] = [
    CPU_DRIVER,
    GpuFacts { images: false, subgroup: 0, ..CPU_DRIVER },
    // GPUs with workgroup memory: small tiles for many units, large tiles for one.
    GpuFacts { units: 1, ..CPU_DRIVER },
    GpuFacts { images: false, subgroup: 32, units: 64, ..CPU_DRIVER },
    // Small images, where reads outside have no value.
    GpuFacts { max_image: 8, max_layers: 4, zero_clamp: false, ..CPU_DRIVER },
    // Arrays of images.
    GpuFacts { max_image: 8, ..CPU_DRIVER },
];

#[test]
fn accepted_cases_compute_the_expected_outputs_in_every_layout() {
    let targets = LAYOUTS.map(|gpu| target(vec![gpu]));
    let [first, ..] = &targets;
    let tallies = check_targets(&candidate(first), &targets.each_ref());
    let tallies = tallies.unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    assert!(tallies.iter().all(|tally| tally.taken > 1200), "{tallies:?}");
    // With `ETBUILD_GPU_VALIDATION=1`, the validation layers watch.
    assert_eq!(et_gpu::validation_messages(), Vec::<String>::new());
}

#[test]
fn answers_are_deterministic_and_have_reasons() {
    check_refusals(&candidate(&target(vec![CPU_DRIVER]))).unwrap();
}

#[test]
fn a_target_without_gpu_is_refused() {
    let target = target(Vec::new());
    assert_eq!(check_cases(&candidate(&target)).unwrap().taken, 0);
}

#[test]
fn damaged_blobs_are_errors() {
    check_blobs(&candidate(&target(vec![CPU_DRIVER])), 8).unwrap();
}

/// The GPUs of pages: with workgroup memory, and the browser's renderer on the CPU.
#[test]
fn kernels_for_pages_are_valid_and_vulkan_refuses_them() {
    for units in [0, 16] {
        let gpu = GpuFacts {
            api: GpuApi::WebGpu,
            images: false,
            subgroup: 0,
            units,
            zero_clamp: false,
            int64: false,
            float64: false,
            ..CPU_DRIVER
        };
        // A kernel that naga refuses is another problem, found before the driver.
        let problems = check_cases(&candidate(&target(vec![gpu]))).unwrap_err();
        let others: Vec<_> = problems.iter().filter(|problem| !problem.contains(REFUSED)).collect();
        assert!(problems.len() > 850 && others.is_empty(), "{} of {}: {others:?}", others.len(), problems.len());
    }
}

const REFUSED: &str = "the GPU program is for WebGPU";
