//! Passes: from a captured program to Core ATen, then to Edge, then to a lowered program.
//!
//! A pass is a pure function on graphs. The ordered lists of passes are [`TO_CORE_ATEN`], [`TO_EDGE`] and
//! [`TO_LOWERED`]; programs for ExecuTorch's runtime also run [`FOR_UPSTREAM`] before and [`CHECK_UPSTREAM`] after
//! the first two lists. A verifier checks the program between dialects.
//!
//! ```
//! use std::sync::Arc;
//!
//! use etbuild_pass::{Runtime, lower};
//!
//! let archive = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/digits/digits.pt2"))?;
//! let captured = etbuild_import::import_pt2(Arc::new(archive)).unwrap();
//! let lowered = lower(captured, Runtime::Etbuild).unwrap();
//! assert!(!lowered.program().methods["forward"].nodes.is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod decompose;
mod edit;
mod error;
mod front_end;
mod legalize;
mod pass;
mod passes;
mod preserve;
mod random_state;
mod runtime;
mod survey;

use etbuild_ir::{AtenProgram, CoreAtenProgram, EdgeProgram, LoweredProgram};

pub use error::{PassError, Reason, Refusal};
pub use front_end::{
    CameraPicture, Cosines, Decibels, FrontEnd, FrontEndError, Logarithm, Real, SoundFeatures, with_front_ends,
    with_streams,
};
pub use pass::Pass;
pub use passes::{CHECK_UPSTREAM, FOR_UPSTREAM, TO_CORE_ATEN, TO_EDGE, TO_FLOAT32, TO_LOWERED};
pub use random_state::with_random_state;
pub use runtime::Runtime;
pub use survey::{Survey, survey};

/// Lowers a captured program for a runtime.
///
/// # Errors
/// All unsupported calls that the first failing pass refuses.
pub fn lower(program: AtenProgram, runtime: Runtime) -> Result<LoweredProgram, PassError> {
    let program = pass::verified(pass::run(runtime.first_passes(), program.into_program())?)?;
    let edge = to_edge(to_core_aten(program)?)?;
    to_lowered(pass::verified(pass::run(runtime.last_passes(), edge.into_program())?)?)
}

/// Computes fp16 and bf16 in `float32`. Inputs, outputs and state keep their types.
///
/// # Errors
/// The widened program is invalid: a fault of the pass.
pub fn widen_halves(program: AtenProgram) -> Result<AtenProgram, PassError> {
    pass::verified(pass::run(TO_FLOAT32, program.into_program())?)
}

/// From ATen to Core ATen for our runtime: decomposes operators, except operators with a kernel, and folds batch
/// norm.
pub fn to_core_aten(program: AtenProgram) -> Result<CoreAtenProgram, PassError> {
    pass::verified(pass::run(TO_CORE_ATEN, program.into_program())?)
}

/// From Core ATen to Edge: operators of the kernel catalogue, folded constants.
pub fn to_edge(program: CoreAtenProgram) -> Result<EdgeProgram, PassError> {
    pass::verified(pass::run(TO_EDGE, program.into_program())?)
}

/// From Edge to a lowered program: jumps in place of nested graphs.
pub fn to_lowered(program: EdgeProgram) -> Result<LoweredProgram, PassError> {
    pass::verified(pass::run(TO_LOWERED, program.into_program())?)
}
