//! The backend as an ExecuTorch delegate.

use core::cell::Cell;

use et_core::{Args, Error, Result};
use et_runtime::{Delegate, DelegateSetup, Events, Listener, Workers};

use crate::memory::Operands;
use crate::run::run;
use crate::{Blob, Row};

/// The backend id in program files.
pub const ID: &str = "EtbuildCortexM";

/// The delegate of a partition.
#[derive(Debug, Default)]
pub struct Engine<'a> {
    blob: Cell<Option<Blob<'a>>>,
    listener: Listener<'a>,
}

impl<'a> Engine<'a> {
    /// A delegate with a listener.
    pub const fn heard_by(listener: Listener<'a>) -> Self {
        Self { blob: Cell::new(None), listener }
    }
}

/// A delegate. The kernels run on the caller's thread.
pub fn delegate(_workers: &dyn Workers) -> impl Delegate<'_> {
    Engine::default()
}

impl<'a> Delegate<'a> for Engine<'a> {
    /// Checks that this binary has every kernel of the blob.
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let blob = Blob::read(setup.blob)?;
        if !Row::from_number(blob.header().row).is_some_and(Row::is_compiled) {
            return Err(Error::DelegateInvalidCompatibility);
        }
        blob.instructions().try_for_each(|instruction| instruction.map(|_| ()))?;
        self.blob.set(Some(blob));
        Ok(())
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let blob = self.blob.get().ok_or(Error::DelegateInvalidHandle)?;
        let mut listener = self.listener;
        (0..).zip(blob.instructions()).try_for_each(|(part, instruction)| {
            listener.part(part);
            run(&instruction?, Operands::new(blob, arguments), &mut listener)
        })
    }
}
