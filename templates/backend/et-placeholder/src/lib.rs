//! The backend `placeholder` on a device: executes the blobs of its host half.
#![no_std]

use et_core::{Args, Error, Result};
use et_runtime::{Delegate, DelegateSetup, Workers};

/// The delegate id in program files.
pub const ID: &str = "EtbuildPlaceholder";

/// The delegate of a blob. Firmware makes it by default, without threads.
#[derive(Default)]
pub struct Engine<'a> {
    /// The threads for the work of a call.
    _workers: Option<&'a dyn Workers>,
}

/// Makes the delegate of a blob, which may use these threads.
pub fn delegate(workers: &dyn Workers) -> impl Delegate<'_> {
    Engine { _workers: Some(workers) }
}

impl<'a> Delegate<'a> for Engine<'a> {
    fn init(&self, _setup: &DelegateSetup<'a>) -> Result<()> {
        Err(Error::NotSupported)
    }

    fn execute(&self, _args: &Args<'a, '_>) -> Result<()> {
        Err(Error::NotSupported)
    }
}
