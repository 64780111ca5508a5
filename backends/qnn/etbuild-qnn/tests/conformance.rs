//! The conformance suite of backends, on the vendor's simulator of the NPU.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use et_module::Engine;
use et_ops::{Case, CaseTensor, Operator};
use etbuild_backend::{NpuFacts, TargetFacts};
use etbuild_conformance::{Candidate, check_blobs, check_defined_cases, check_refusals};
use etbuild_qnn::BACKEND;

static ENGINES: &[Engine] =
    &[Engine { id: et_qnn::ID, make: |host| Box::new(et_qnn::delegate(host.workers)), problem: et_qnn::problem }];

fn target() -> TargetFacts {
    let npu = Some(NpuFacts { soc: "SM8750".to_owned() });
    TargetFacts { architecture: std::env::consts::ARCH.to_owned(), hosted: true, npu, ..TargetFacts::default() }
}

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    // The NPU computes in fp16, whose steps are 2^-11 apart.
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads: 1, tolerance: 4e-3 }
}

/// The NPU has neither infinities nor NaN, and quantization rounds halves away from zero.
fn defines(_: &Operator, case: &Case, expected: &[CaseTensor]) -> bool {
    let finite = |element: &f64| element.abs() <= 65_504.0;
    !case.name.contains("halfway") && expected.iter().all(|tensor| tensor.elements.iter().all(finite))
}

fn accepted_cases_compute_the_expected_outputs() {
    let tally = check_defined_cases(&candidate(&target()), &defines).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    assert!(tally.taken > 45, "{tally:?}");
}

fn answers_are_deterministic_and_have_reasons() {
    check_refusals(&candidate(&target())).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
}

fn damaged_blobs_are_errors() {
    check_blobs(&candidate(&target()), 8).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
}

/// The checks, in order: the compiler of the vendor starts this program again.
fn main() -> ExitCode {
    if let Some(code) = etbuild_qnn::worker() {
        return code;
    }
    let checks: [(&str, fn()); 3] = [
        ("accepted_cases_compute_the_expected_outputs", accepted_cases_compute_the_expected_outputs),
        ("answers_are_deterministic_and_have_reasons", answers_are_deterministic_and_have_reasons),
        ("damaged_blobs_are_errors", damaged_blobs_are_errors),
    ];
    for (name, check) in checks {
        check();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}
