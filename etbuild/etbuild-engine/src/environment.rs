//! What the machine has for a target: a toolchain to build with, a runner to verify with.

mod runner;
mod toolchain;

pub use runner::{Runner, runner};
pub use toolchain::{Tools, tools};
