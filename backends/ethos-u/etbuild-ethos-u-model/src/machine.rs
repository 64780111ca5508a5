//! The state of an NPU between two commands.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::fault::Problem;
use crate::memory::Memory;
use crate::npu::Npu;
use crate::registers::Registers;
use crate::volume::{Size, Volume};

/// An NPU that executes a command stream.
#[derive(Debug)]
pub struct Machine<'m, 'a> {
    /// Which NPU.
    pub npu: Npu,
    /// The registers.
    pub registers: Registers,
    /// The memory.
    pub memory: &'m mut Memory<'a>,
    /// Results for the next operation of a chain, by number of the buffer.
    pub chains: BTreeMap<u16, Volume>,
    /// The multiplications that the stream may still take.
    left: Cell<u64>,
}

/// The most multiplications of a stream: far above those of networks for microcontrollers, and about a minute.
const MOST: u64 = 1 << 36;

impl<'m, 'a> Machine<'m, 'a> {
    /// An NPU after its reset.
    pub fn new(npu: Npu, memory: &'m mut Memory<'a>) -> Self {
        memory.reset(npu.internal());
        Self { npu, registers: Registers::of(npu), memory, chains: BTreeMap::new(), left: Cell::new(MOST) }
    }

    /// Takes work from what the stream may take.
    pub fn spend(&self, work: u64) -> Result<(), Problem> {
        self.left.set(self.left.get().checked_sub(work).ok_or(Problem::Work)?);
        Ok(())
    }

    /// The result in a buffer of a chain.
    ///
    /// # Errors
    /// [`Problem::Contradiction`] for an empty buffer, and for another size.
    pub fn chained(&self, buffer: u16, size: Size) -> Result<Volume, Problem> {
        let volume = self.chains.get(&buffer).filter(|volume| volume.size == size);
        volume.cloned().ok_or(Problem::Contradiction("the buffer of the chain has no result of this size"))
    }
}
