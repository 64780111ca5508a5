//! The conformance tests of all backends.

use et_module::Engine;
use etbuild_backend::TargetFacts;
use etbuild_conformance::{Candidate, check_blobs, check_cases, check_refusals};
use etbuild_cpu::BACKEND;

static ENGINES: &[Engine] = &[Engine { id: et_cpu::ID, make: |workers| Box::new(et_cpu::delegate(workers)) }];

/// This machine, with the minimum instruction set of the backend.
fn this_machine() -> TargetFacts {
    let features = match std::env::consts::ARCH {
        "x86_64" => ["avx2", "avx512", "avx512vnni"].map(str::to_owned).to_vec(),
        _ => vec!["neon".to_owned()],
    };
    TargetFacts { architecture: std::env::consts::ARCH.to_owned(), features, hosted: true }
}

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads: 2, tolerance: 1e-5 }
}

#[test]
fn what_it_takes_it_computes() {
    check_cases(&candidate(&this_machine())).unwrap();
}

#[test]
fn its_answers_stay_the_same_and_have_reasons() {
    check_refusals(&candidate(&this_machine())).unwrap();
}

#[test]
fn damaged_blobs_are_errors() {
    check_blobs(&candidate(&this_machine()), 8).unwrap();
}
