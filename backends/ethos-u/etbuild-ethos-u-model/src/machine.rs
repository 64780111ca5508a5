//! The state of an NPU between two commands.

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
}

impl<'m, 'a> Machine<'m, 'a> {
    /// An NPU after its reset.
    pub fn new(npu: Npu, memory: &'m mut Memory<'a>) -> Self {
        memory.reset(npu.internal());
        Self { npu, registers: Registers::of(npu), memory, chains: BTreeMap::new() }
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
