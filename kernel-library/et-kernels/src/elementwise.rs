//! Chains of operations on every element by itself, without a tensor for what is in between.
//!
//! A [`Program`] is a list of instructions, data that a file can hold. It runs on blocks of elements that stay in the
//! nearest cache, so that a chain of any length reads its inputs once and writes its output once.

mod block;
mod operation;
mod program;
mod run;
#[cfg(test)]
mod test;

pub use operation::Operation;
pub use program::{Instruction, Operand, Output, Program, Source};
pub use run::{run, scratch};
