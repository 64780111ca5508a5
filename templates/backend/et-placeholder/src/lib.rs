//! The backend `placeholder` on a device: executes the blobs of its host half.
#![no_std]

use et_core::{Args, Error, Result};
use et_runtime::{Delegate, DelegateSetup, Listener, Workers};

/// The delegate id in program files.
pub const ID: &str = "EtbuildPlaceholder";

/// The delegate of a blob.
pub struct Engine<'a> {
    /// The threads for the work of a call.
    _workers: Option<&'a dyn Workers>,
    /// Hears of layers and rows.
    _listener: Listener<'a>,
}

impl<'a> Engine<'a> {
    /// The delegate of a blob in firmware, without threads.
    pub const fn heard_by(listener: Listener<'a>) -> Self {
        Self { _workers: None, _listener: listener }
    }
}

/// Makes the delegate of a blob, which may use these threads.
pub fn delegate(workers: &dyn Workers) -> impl Delegate<'_> {
    Engine { _workers: Some(workers), _listener: Listener::SILENT }
}

impl<'a> Delegate<'a> for Engine<'a> {
    fn init(&self, _setup: &DelegateSetup<'a>) -> Result<()> {
        Err(Error::NotSupported)
    }

    fn execute(&self, _args: &Args<'a, '_>) -> Result<()> {
        Err(Error::NotSupported)
    }
}
