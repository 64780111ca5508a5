//! The conformance suite that every backend must pass.
//!
//! A [`Candidate`] is a backend with its delegate. [`check_cases`] runs the cases of the operator catalogue through
//! partition, memory plan, program file and runtime; [`check_targets`] does so for several targets; [`check_refusals`] checks
//! that answers are deterministic; [`check_blobs`] damages blobs.

mod candidate;
mod case_graph;
mod program;
mod suite;

pub use candidate::Candidate;
pub use program::{Compiled, compile, load, run};
pub use suite::{Tally, check_blobs, check_cases, check_defined_cases, check_refusals, check_targets};
