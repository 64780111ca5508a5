//! The suite on a conforming backend, and on backends with faults.

mod mirror;

use etbuild_backend::TargetFacts;
use etbuild_conformance::{Candidate, check_blobs, check_cases, check_refusals};

use mirror::{ENGINES, MIRROR, PARTLY};

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    Candidate { backend: &MIRROR, engines: ENGINES, target, threads: 1, tolerance: 0.0 }
}

#[test]
fn a_backend_that_runs_every_case_passes() {
    let target = TargetFacts::default();
    let tally = check_cases(&candidate(&target)).unwrap();
    assert!(tally.taken > 1_000, "{tally:?}");
    check_refusals(&candidate(&target)).unwrap();
    let partly = Candidate { backend: &PARTLY, ..candidate(&target) };
    let some = check_cases(&partly).unwrap();
    assert!(some.taken > 0 && some.refused > some.taken, "{some:?}");
}

#[test]
fn a_backend_that_leaves_outputs_unchanged_fails() {
    let target = TargetFacts::default();
    let problems = check_cases(&Candidate { engines: mirror::SILENT, ..candidate(&target) }).unwrap_err();
    assert!(problems.len() > 100, "{}", problems.len());
}

#[test]
fn damaged_blobs_are_survived() {
    let target = TargetFacts::default();
    assert!(check_blobs(&candidate(&target), 4).unwrap() > 1_000);
}
