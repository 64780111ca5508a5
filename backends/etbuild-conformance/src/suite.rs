//! The checks.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use et_conformance::compare_outputs;
use et_ops::{Case, CaseTensor, Expectation, OPERATORS, Operator};
use etbuild_backend::TargetFacts;
use etbuild_partition::Place;

use crate::Candidate;
use crate::case_graph::{CaseProgram, Constants, case_program};
use crate::program::{compile, load, run};

/// The number of accepted cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that ran on the backend.
    pub taken: usize,
    /// The number of cases that the backend refused.
    pub refused: usize,
}

/// A case with its expected tensors.
struct Subject {
    operator: &'static Operator,
    case: &'static Case,
    expected: &'static [CaseTensor],
    tolerance: f64,
    constants: Constants,
}

/// Every case of the catalogue that a program can express, with its tensors as inputs and as constants.
fn subjects() -> impl Iterator<Item = Subject> {
    let cases = OPERATORS.iter().flat_map(|operator| operator.cases.iter().map(move |case| (*operator, case)));
    cases.flat_map(|(operator, case)| {
        let both = [Constants::None, Constants::AllButFirst];
        let (expected, tolerance) = match case.expect {
            Expectation::Outputs { tensors, tolerance } => (tensors, tolerance),
            Expectation::Conversion(tensors) => (tensors, 0.0),
            Expectation::Bounded(_) | Expectation::Refusal(_) => (&[][..], 0.0),
        };
        let subject = move |constants| Subject { operator, case, expected, tolerance, constants };
        both.into_iter().filter(move |_| !expected.is_empty()).map(subject)
    })
}

impl Subject {
    fn program(&self) -> Option<CaseProgram> {
        case_program(self.operator, self.case, self.expected, self.constants)
    }

    fn named(&self, problem: &str) -> String {
        format!("{}, {} ({:?} constant): {problem}", self.operator.name(), self.case.name, self.constants)
    }
}

/// Runs every case of the catalogue that the backend accepts, from partition to outputs, and compares with the expected
/// tensors.
///
/// # Errors
/// Every case that fails or has other outputs.
pub fn check_cases(candidate: &Candidate<'_>) -> Result<Tally, Vec<String>> {
    check_targets(candidate, &[candidate.target]).map(|tallies| tallies[0])
}

/// The same for several targets, of which this machine must be each; a tally for each. Targets for which a case has equal
/// programs run the program once.
///
/// # Errors
/// As [`check_cases`].
pub fn check_targets(candidate: &Candidate<'_>, targets: &[&TargetFacts]) -> Result<Vec<Tally>, Vec<String>> {
    check_subjects(candidate, targets, &|_, _, _| true)
}

/// As [`check_cases`], for a processor with other rules for some numbers: `defines` says whether a case, with its expected tensors, is one
/// whose outputs the processor promises.
///
/// # Errors
/// As [`check_cases`].
pub fn check_defined_cases(candidate: &Candidate<'_>, defines: &Defines) -> Result<Tally, Vec<String>> {
    check_subjects(candidate, &[candidate.target], defines).map(|tallies| tallies[0])
}

/// Whether a processor promises the outputs of a case.
pub type Defines = dyn Fn(&Operator, &Case, &[CaseTensor]) -> bool;

fn check_subjects(
    candidate: &Candidate<'_>,
    targets: &[&TargetFacts],
    defines: &Defines,
) -> Result<Vec<Tally>, Vec<String>> {
    let (mut tallies, mut problems) = (vec![Tally::default(); targets.len()], Vec::new());
    for subject in subjects().filter(|subject| defines(subject.operator, subject.case, subject.expected)) {
        let mut known = BTreeSet::new();
        for (tally, target) in tallies.iter_mut().zip(targets) {
            match check_case(&subject, &Candidate { target, ..*candidate }, &mut known) {
                Ok(None) => {}
                Ok(Some(true)) => tally.taken += 1,
                Ok(Some(false)) => tally.refused += 1,
                Err(problem) => problems.push(subject.named(&format!("{problem} ({target:?})"))),
            }
        }
    }
    if problems.is_empty() { Ok(tallies) } else { Err(problems) }
}

/// `true` if the backend accepted the case and the program is right: one of the `known` right programs, or one that computes
/// the expected outputs. `None` for a case that a program cannot express.
fn check_case(
    subject: &Subject,
    candidate: &Candidate<'_>,
    known: &mut BTreeSet<Vec<u8>>,
) -> Result<Option<bool>, String> {
    let Some(CaseProgram { program, inputs }) = subject.program() else { return Ok(None) };
    let compiled = compile(program, candidate)?;
    let taken = compiled.partitioned.report.iter().any(|node| matches!(node.place, Place::Backend(..)));
    if taken && !known.contains(&compiled.file) {
        let got = run(&mut load(&compiled.file, candidate)?, &inputs)?;
        compare_outputs(subject.expected, &got, subject.tolerance.max(candidate.tolerance))?;
        known.insert(compiled.file);
    }
    Ok(Some(taken))
}

/// Asks the backend twice about every case: the answers must be equal, refusals must be sentences without a full stop,
/// and blobs must have equal bytes.
///
/// # Errors
/// Every violation.
pub fn check_refusals(candidate: &Candidate<'_>) -> Result<(), Vec<String>> {
    let problems: Vec<String> = subjects()
        .filter_map(|subject| {
            let (first, second) = (subject.program()?.program, subject.program()?.program);
            let (first, second) = (compile(first, candidate), compile(second, candidate));
            let problem = match (first, second) {
                (Ok(first), Ok(second)) if first.file != second.file => Some("two builds differ".to_owned()),
                (Ok(first), Ok(second)) if first.partitioned.report != second.partitioned.report => {
                    Some("two refusals differ".to_owned())
                }
                (Ok(first), Ok(_)) => {
                    let mut refusals = first.partitioned.report.iter().flat_map(|node| &node.refusals);
                    let empty = |reason: &str| reason.trim().is_empty() || reason.ends_with('.');
                    let bad = refusals.find(|(_, refusal)| empty(&refusal.reason));
                    bad.map(|(_, refusal)| format!("`{}` is no reason", refusal.reason))
                }
                (first, _) => first.err(),
            };
            problem.map(|problem| subject.named(&problem))
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Damages the blob of each operator's first accepted case: truncated, and with a changed byte at up to `places`
/// offsets. Loading and execution may fail, but must not panic.
///
/// # Errors
/// Every panic.
pub fn check_blobs(candidate: &Candidate<'_>, places: usize) -> Result<usize, Vec<String>> {
    let (mut tried, mut problems, mut done) = (0, Vec::new(), Vec::new());
    for subject in subjects() {
        let Some(CaseProgram { program, inputs }) = subject.program() else { continue };
        if done.contains(&subject.operator.name()) {
            continue;
        }
        let Ok(compiled) = compile(program, candidate) else { continue };
        let Some(blob) = blob(&compiled.file) else { continue };
        done.push(subject.operator.name());
        for file in damaged(&compiled.file, blob, places) {
            tried += 1;
            let attempt = || load(&file, candidate).and_then(|mut module| run(&mut module, &inputs));
            if catch_unwind(AssertUnwindSafe(attempt)).is_err() {
                problems.push(subject.named("a damaged blob makes the delegate panic"));
            }
        }
    }
    if problems.is_empty() { Ok(tried) } else { Err(problems) }
}

/// Where the first delegate's blob is in a program file.
fn blob(file: &[u8]) -> Option<std::ops::Range<usize>> {
    let parsed = et_format::ProgramFile::parse(file).ok()?;
    let delegate = parsed.program().execution_plan(0).ok()?.delegates().ok()?.iter().next()?.ok()?;
    let bytes = parsed.delegate_blob(delegate).ok()?;
    let start = bytes.as_ptr().addr().checked_sub(file.as_ptr().addr())?;
    Some(start..start + bytes.len())
}

/// Files with a changed byte of the blob, or with zeros from an offset to the blob's end.
fn damaged(file: &[u8], blob: std::ops::Range<usize>, places: usize) -> Vec<Vec<u8>> {
    let step = blob.len().div_ceil(places.max(1)).max(1);
    let place = |place: usize| {
        let flips = [0x01, 0x80, 0xff].map(|flip| {
            let mut copy = file.to_vec();
            copy[place] ^= flip;
            copy
        });
        let mut cut = file.to_vec();
        cut[place..blob.end].fill(0);
        flips.into_iter().chain([cut])
    };
    blob.clone().step_by(step).flat_map(place).collect()
}
