//! Verifying: the binary runs, and the outputs are judged.

pub mod board_report;
mod cost;
mod judge;
mod process;
mod query;
mod runner;

pub use cost::{Cost, Effort, Measured, Spread};
pub use judge::{Judgement, judge};
pub use process::VerifyOptions;
pub use query::verified;
pub use runner::{Runner, board, model, runner, shells};
