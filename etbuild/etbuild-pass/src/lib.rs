//! Passes: from a captured program to one of canonical operators, and from that to one that runs.
//!
//! A pass is a pure function on a graph. The lists of passes, in order, are [`TO_CORE_ATEN`], [`TO_EDGE`] and
//! [`TO_LOWERED`]; between
//! dialects a verifier checks what they made.

mod decompose;
mod edit;
mod error;
mod legalize;
mod pass;
mod passes;

use etbuild_ir::{AtenProgram, CoreAtenProgram, EdgeProgram, LoweredProgram};

pub use error::{PassError, Reason, Refusal};
pub use pass::{Pass, TO_CORE_ATEN, TO_EDGE, TO_LOWERED};

/// Decomposes a captured program into canonical operators and folds batch norm into convolutions.
pub fn to_core_aten(program: AtenProgram) -> Result<CoreAtenProgram, PassError> {
    pass::verified(pass::run(TO_CORE_ATEN, program.into_program())?)
}

/// Brings a program of canonical operators into the form that runs: operators of the kernel catalogue, constants folded.
pub fn to_edge(program: CoreAtenProgram) -> Result<EdgeProgram, PassError> {
    pass::verified(pass::run(TO_EDGE, program.into_program())?)
}

/// Brings a program that runs into the form that is planned and emitted: jumps in place of graphs inside graphs.
pub fn to_lowered(program: EdgeProgram) -> Result<LoweredProgram, PassError> {
    pass::verified(pass::run(TO_LOWERED, program.into_program())?)
}
