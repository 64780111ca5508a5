//! The environment of a target on this machine: a toolchain to build with, a runner to verify with.

mod runner;
mod toolchain;

pub use runner::{Runner, runner};
pub use toolchain::{Tools, tools};
