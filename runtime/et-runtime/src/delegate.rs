//! The engines that execute parts of a method.

use et_core::{Args, Result};
use et_format::{CompileSpec, List, ProgramFile};

/// One blob's engine. A method calls the delegate at the position of the blob in the program's delegate list, so every
/// blob has a delegate of its own; state is behind interior mutability, in memory that the delegate was made with.
pub trait Delegate<'a> {
    /// Prepares the blob for execution: called once, when the method is loaded.
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()>;

    /// Executes the blob on arguments: inputs, then outputs, then bytes of scratch where the blob asked for any.
    fn execute(&self, args: &Args<'a, '_>) -> Result<()>;
}

/// What a delegate is prepared from.
#[derive(Clone, Copy, Debug)]
pub struct DelegateSetup<'a> {
    /// What the backend made at build time.
    pub blob: &'a [u8],
    /// The options that the blob was made with.
    pub compile_specs: List<'a, CompileSpec<'a>>,
    /// The file, for data that the blob refers to by name.
    pub file: ProgramFile<'a>,
}
