//! Passes: from a captured program to one of canonical operators, and from that to one that runs.
//!
//! A pass is a pure function on a graph. The lists of passes, in order, are [`TO_CORE_ATEN`], [`TO_EDGE`] and
//! [`TO_LOWERED`], around the first two [`FOR_UPSTREAM`] and [`CHECK_UPSTREAM`] where ExecuTorch's runtime is to load the
//! program; between dialects a verifier checks what they made.

mod decompose;
mod edit;
mod error;
mod legalize;
mod pass;
mod passes;
mod runtime;
mod survey;
mod whole;

use etbuild_ir::{AtenProgram, CoreAtenProgram, EdgeProgram, LoweredProgram};

pub use error::{PassError, Reason, Refusal};
pub use pass::Pass;
pub use passes::{CHECK_UPSTREAM, FOR_UPSTREAM, TO_CORE_ATEN, TO_EDGE, TO_LOWERED};
pub use runtime::Runtime;
pub use survey::{Survey, survey};

/// Brings a captured program into the form that a runtime runs.
pub fn lower(program: AtenProgram, runtime: Runtime) -> Result<LoweredProgram, PassError> {
    let program = pass::verified(pass::run(runtime.first_passes(), program.into_program())?)?;
    let edge = to_edge(to_core_aten(program)?)?;
    to_lowered(pass::verified(pass::run(runtime.last_passes(), edge.into_program())?)?)
}

/// The first half of lowering for our runtime: decomposes a captured program into canonical operators and those with a kernel
/// in one piece, and folds batch norm into convolutions.
pub fn to_core_aten(program: AtenProgram) -> Result<CoreAtenProgram, PassError> {
    pass::verified(pass::run(TO_CORE_ATEN, program.into_program())?)
}

/// The second half: brings a program of canonical operators into the form that runs: operators of the kernel catalogue, constants folded.
pub fn to_edge(program: CoreAtenProgram) -> Result<EdgeProgram, PassError> {
    pass::verified(pass::run(TO_EDGE, program.into_program())?)
}

/// Brings a program that runs into the form that is planned and emitted: jumps in place of graphs inside graphs.
pub fn to_lowered(program: EdgeProgram) -> Result<LoweredProgram, PassError> {
    pass::verified(pass::run(TO_LOWERED, program.into_program())?)
}
