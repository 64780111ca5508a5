//! Verifying: the binary runs, and the outputs are judged.

mod board_report;
mod judge;
mod process;
mod query;
mod runner;

pub use judge::{Judgement, judge};
pub use process::VerifyOptions;
pub use query::verified;
pub use runner::{Runner, runner};
