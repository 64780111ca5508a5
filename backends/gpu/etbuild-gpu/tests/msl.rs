//! Kernels in MSL.
mod common;
use common::{CPU_DRIVER, ENGINES, target};
use etbuild_backend::{GpuApi, GpuFacts};
use etbuild_conformance::{Candidate, check_cases};
use etbuild_gpu::BACKEND;

#[test]
fn valid() {
    let gpu = GpuFacts { api: GpuApi::Metal { msl: [2, 3] }, images: false, subgroup: 32, units: 16, zero_clamp: false, float64: false, ..CPU_DRIVER };
    let target = target(vec![gpu]);
    let candidate = Candidate { backend: &BACKEND, engines: ENGINES, target: &target, threads: 2, tolerance: 1e-5 };
    let problems = check_cases(&candidate).unwrap_err();
    let others: Vec<_> = problems.iter().filter(|problem| !problem.contains("is for Metal")).collect();
    println!("{} {}", problems.len(), others.len());
    for other in others.iter().take(12) { println!("{other}\n"); }
}
