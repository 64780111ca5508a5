//! Delegates: execute partitions of a method.

#[cfg(feature = "device-state")]
use et_core::Tensor;
use et_core::{Args, Result};
use et_format::{CompileSpec, List, ProgramFile};

/// The delegate of a blob. A method calls the delegate at the blob's position in the program's delegate list, so every
/// blob has its own delegate; a delegate keeps state behind interior mutability, in memory from its constructor.
pub trait Delegate<'a> {
    /// Prepares the blob for execution: called once, when the method is loaded.
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()>;

    /// Executes the blob on arguments: inputs, then outputs, then bytes of scratch where the blob asked for any.
    fn execute(&self, args: &Args<'a, '_>) -> Result<()>;

    /// Stores the contents of a state in the tensor of the state, where the delegate keeps the contents on a device. The next
    /// execution reads the tensor again.
    #[cfg(feature = "device-state")]
    fn store_state(&self, state: &Tensor<'_>) -> Result<()> {
        let _ = state;
        Ok(())
    }
}

/// The input of [`Delegate::init`].
#[derive(Clone, Copy, Debug)]
pub struct DelegateSetup<'a> {
    /// The blob that the backend made at build time.
    pub blob: &'a [u8],
    /// The options that the blob was made with; none in firmware.
    pub compile_specs: List<'a, CompileSpec<'a>>,
    /// The file, for data that the blob refers to by name; empty in firmware.
    pub file: ProgramFile<'a>,
}
