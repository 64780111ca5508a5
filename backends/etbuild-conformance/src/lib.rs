//! What every engine must do, as tests that a backend instantiates.
//!
//! A [`Candidate`] is a backend with what executes its blobs. [`check_cases`] runs the cases of the operator catalogue on
//! it, through partition, plan, file and runtime; [`check_refusals`] asks it twice; [`check_blobs`] damages what it lowers.

mod candidate;
mod case_graph;
mod program;
mod suite;

pub use candidate::Candidate;
pub use program::{Compiled, compile, load, run};
pub use suite::{Tally, check_blobs, check_cases, check_refusals};
