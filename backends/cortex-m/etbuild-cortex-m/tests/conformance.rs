//! The conformance suite of backends.

use et_module::Engine;
use etbuild_backend::TargetFacts;
use etbuild_conformance::{Candidate, check_blobs, check_cases, check_refusals};
use etbuild_cortex_m::BACKEND;

static ENGINES: &[Engine] =
    &[Engine { id: et_cortex_m::ID, make: |host| Box::new(et_cortex_m::delegate(host.workers)), problem: || None }];

/// A board for each row of kernels.
fn boards() -> [TargetFacts; 4] {
    ["plain", "dsp", "thumb2", "mve"].map(|row| TargetFacts {
        architecture: "thumb".to_owned(),
        features: vec![row.to_owned()],
        hosted: false,
        ..TargetFacts::default()
    })
}

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads: 1, tolerance: 1e-5 }
}

#[test]
fn accepted_cases_compute_the_expected_outputs() {
    for board in boards() {
        assert!(check_cases(&candidate(&board)).unwrap().taken > 0);
    }
}

#[test]
fn answers_are_deterministic_and_have_reasons() {
    for board in boards() {
        check_refusals(&candidate(&board)).unwrap();
    }
}

#[test]
fn damaged_blobs_are_errors() {
    for board in boards() {
        check_blobs(&candidate(&board), 8).unwrap();
    }
}
