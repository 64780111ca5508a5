//! The engine `placeholder` on a device: executes the blobs that its host half makes.
#![no_std]

use et_core::{Args, Error, Result};
use et_runtime::{Delegate, DelegateSetup, Workers};

/// What program files call the engine.
pub const ID: &str = "EtbuildPlaceholder";

/// The delegate of one blob.
struct Placeholder<'a> {
    /// The threads that it may use.
    _workers: &'a dyn Workers,
}

/// A delegate for one blob, which may use these threads.
pub fn delegate(workers: &dyn Workers) -> impl Delegate<'_> {
    Placeholder { _workers: workers }
}

impl<'a> Delegate<'a> for Placeholder<'a> {
    fn init(&self, _setup: &DelegateSetup<'a>) -> Result<()> {
        Err(Error::NotSupported)
    }

    fn execute(&self, _args: &Args<'a, '_>) -> Result<()> {
        Err(Error::NotSupported)
    }
}
