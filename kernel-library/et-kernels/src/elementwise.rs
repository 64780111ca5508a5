//! Fused chains of elementwise operations, without intermediate tensors.
//!
//! A [`Program`] is a list of instructions that can be stored in a file. The program runs on L1-resident blocks, so
//! that a chain of any length reads the inputs once and writes the output once.

mod operation;
mod program;
mod run;
#[cfg(test)]
mod test;

pub use operation::Operation;
pub use program::{Instruction, Operand, Output, Program, Source};
pub use run::{run, scratch};
