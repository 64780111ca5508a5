//! The engine as a delegate.

use core::cell::Cell;

use et_core::{Args, Error, Result};
use et_runtime::{Delegate, DelegateSetup, Workers};
use et_simd::Level;

use crate::memory::Memory;
use crate::run::{Context, run};
use crate::{Blob, isa};

/// What program files call the engine.
pub const ID: &str = "EtbuildCpu";

/// One partition.
pub struct CpuDelegate<'a, W> {
    workers: W,
    loaded: Cell<Option<(Blob<'a>, et_gemm::Isa, Level)>>,
}

/// A delegate whose work is done by these threads.
pub const fn delegate<'a, W: Workers>(workers: W) -> CpuDelegate<'a, W> {
    CpuDelegate { workers, loaded: Cell::new(None) }
}

impl<'a, W: Workers> Delegate<'a> for CpuDelegate<'a, W> {
    /// Finds the parts of the blob and reads every instruction once; weights stay where they are.
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let blob = Blob::parse(setup.blob)?;
        let isa = isa(blob.header().isa).ok_or(Error::InvalidProgram)?;
        if !isa.is_available() {
            return Err(Error::DelegateInvalidCompatibility);
        }
        blob.instructions().try_for_each(|instruction| instruction.map(drop))?;
        self.loaded.set(Some((blob, isa, Level::detect())));
        Ok(())
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let (blob, isa, level) = self.loaded.get().ok_or(Error::DelegateInvalidHandle)?;
        let memory = Memory::new(blob, arguments)?;
        let threads = blob.header().threads as usize;
        let context = Context { memory: &memory, workers: &self.workers, threads, isa, level };
        blob.instructions().try_for_each(|instruction| run(&context, &instruction?))
    }
}
