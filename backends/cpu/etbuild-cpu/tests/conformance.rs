//! The conformance tests of all backends.

use et_gemm::{Architecture, Isa};
use et_module::Engine;
use etbuild_backend::TargetFacts;
use etbuild_conformance::{Candidate, check_blobs, check_cases, check_refusals};
use etbuild_cpu::BACKEND;

/// The delegate with the kernels of each ISA.
macro_rules! engines {
    ($($isa:ident)*) => {
        &[$((
            Isa::$isa,
            &[Engine { id: et_cpu::ID, make: |host| Box::new(et_cpu::delegate_of(host.workers, Isa::$isa)), problem: || None }],
        )),*]
    };
}

static ENGINES: &[(Isa, &[Engine])] = engines![Avx2 AvxVnni Avx512 Avx512Vnni Amx Neon NeonDot NeonI8mm];

/// The delegate of programs, with the best ISA of the CPU.
static BEST: &[Engine] =
    &[Engine { id: et_cpu::ID, make: |host| Box::new(et_cpu::delegate(host.workers)), problem: || None }];

fn architecture() -> Architecture {
    Architecture::from_name(std::env::consts::ARCH).unwrap()
}

/// This machine, with the minimum instruction set of the backend.
fn this_machine() -> TargetFacts {
    let features = vec![architecture().baseline().name().to_owned()];
    TargetFacts { architecture: architecture().name().to_owned(), features, hosted: true, ..TargetFacts::default() }
}

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    Candidate { backend: &BACKEND, engines: BEST, target, threads: 2, tolerance: 1e-5 }
}

#[test]
fn accepted_cases_compute_the_expected_outputs() {
    check_cases(&candidate(&this_machine())).unwrap();
}

#[test]
fn accepted_cases_compute_the_expected_outputs_with_every_isa() {
    for isa in architecture().isas().filter(|isa| isa.is_available() && architecture().detect() != Some(*isa)) {
        let (_, engines) = ENGINES.iter().find(|(engine, _)| *engine == isa).unwrap();
        let (target, isa) = (this_machine(), isa.name());
        check_cases(&Candidate { engines, ..candidate(&target) }).unwrap_or_else(|error| panic!("{isa}: {error:?}"));
    }
}

#[test]
fn an_engine_for_an_isa_that_this_machine_lacks_loads_no_blob() {
    let (_, engines) = ENGINES.iter().find(|(isa, _)| !isa.is_available()).unwrap();
    assert!(check_cases(&Candidate { engines, ..candidate(&this_machine()) }).is_err());
}

#[test]
fn answers_are_deterministic_and_have_reasons() {
    check_refusals(&candidate(&this_machine())).unwrap();
}

#[test]
fn damaged_blobs_are_errors() {
    check_blobs(&candidate(&this_machine()), 8).unwrap();
}
