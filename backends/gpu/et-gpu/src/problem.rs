//! Failures of numbered parts of a blob.

pub use et_problem::{Outcome, Problem, problem, report};

/// The failure in a numbered part of a blob.
pub fn within(kind: &str, index: usize) -> impl FnOnce(Problem) -> Problem {
    move |problem| Problem::new(problem.error, format!("{kind} {index} of the GPU program: {}", problem.sentence))
}
