//! The conformance suite of backends.

use et_module::Engine;
use etbuild_backend::TargetFacts;
use etbuild_conformance::{Candidate, check_blobs, check_cases, check_refusals};
use etbuild_placeholder::BACKEND;

static ENGINES: &[Engine] =
    &[Engine { id: et_placeholder::ID, make: |host| Box::new(et_placeholder::delegate(host.workers)), problem: || None }];

fn this_machine() -> TargetFacts {
    TargetFacts { architecture: std::env::consts::ARCH.to_owned(), features: Vec::new(), hosted: true, ..TargetFacts::default() }
}

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads: 2, tolerance: 1e-5 }
}

#[test]
fn accepted_cases_compute_the_expected_outputs() {
    check_cases(&candidate(&this_machine())).unwrap();
}

#[test]
fn answers_are_deterministic_and_have_reasons() {
    check_refusals(&candidate(&this_machine())).unwrap();
}

#[test]
fn damaged_blobs_are_errors() {
    check_blobs(&candidate(&this_machine()), 8).unwrap();
}
