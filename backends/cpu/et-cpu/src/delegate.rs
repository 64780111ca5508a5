//! The CPU backend as an ExecuTorch delegate.

use core::cell::Cell;

use et_core::{Args, Error, Result};
use et_gemm::Isa;
use et_runtime::{Delegate, DelegateSetup, Workers};
use et_simd::Level;

use crate::memory::Memory;
use crate::run::{Context, run};
use crate::{Blob, Instruction, best};

/// The backend id in program files.
pub const ID: &str = "EtbuildCpu";

/// The delegate instance of a partition.
struct Cpu<'a> {
    workers: &'a dyn Workers,
    loaded: Cell<Option<(Blob<'a>, Isa, Level)>>,
    told: Option<fn(&Instruction)>,
}

/// A delegate that executes its kernels on `workers`.
pub fn delegate(workers: &dyn Workers) -> impl Delegate<'_> {
    Cpu { workers, loaded: Cell::new(None), told: None }
}

/// A delegate as of [`delegate`] that calls `told` after each instruction, on the calling thread.
pub fn telling_delegate(workers: &dyn Workers, told: fn(&Instruction)) -> impl Delegate<'_> {
    Cpu { workers, loaded: Cell::new(None), told: Some(told) }
}

impl<'a> Delegate<'a> for Cpu<'a> {
    /// Selects the blob for this processor and validates every instruction; packed weights are not copied.
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let (isa, bytes) = best(setup.blob)?;
        let blob = Blob::parse(bytes)?;
        for instruction in blob.instructions() {
            if !instruction?.is_compiled() {
                // The kernels of this binary were selected for another program.
                return Err(Error::DelegateInvalidCompatibility);
            }
        }
        let level = Level::detect().ok_or(Error::DelegateInvalidCompatibility)?;
        self.loaded.set(Some((blob, isa, level)));
        Ok(())
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let (blob, isa, level) = self.loaded.get().ok_or(Error::DelegateInvalidHandle)?;
        let memory = Memory::new(blob, arguments)?;
        let threads = blob.header().threads as usize;
        let context = Context { memory: &memory, workers: self.workers, threads, isa, level };
        blob.instructions().try_for_each(|instruction| {
            let instruction = instruction?;
            run(&context, &instruction)?;
            self.told.iter().for_each(|told| told(&instruction));
            Ok(())
        })
    }
}
