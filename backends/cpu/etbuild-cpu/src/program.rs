//! The backend program: instructions over virtual buffers, and the instructions that write and read each buffer. Memory is planned and
//! instructions are encoded after fusion.

use std::collections::{BTreeMap, BTreeSet};

use et_cpu::{Access, Instruction, SlotNumber, Weights};
use etbuild_backend::ByteWeights;
use etbuild_cpu_weights::{Packing, Stack};
use etbuild_ir::{ConstantData, Graph, ValueId};

use crate::tensor::{Buffer, Tensor};
use crate::{Architecture, Problem};

/// The storage of a buffer.
#[derive(Clone, Debug)]
pub enum Storage {
    /// An input of the delegate call, by position.
    Input(u32),
    /// An output of the delegate call, by position.
    Output(u32),
    /// The scratch arena.
    Scratch,
    /// A constant of the model.
    Model(ConstantData),
    /// A constant computed by lowering.
    Made(Vec<u8>),
    /// Weights packed when the blob is written.
    Packed(Packing),
    /// The packed weights of several matrices of one shape and form, each from a cache line on.
    Stacked(Stack),
}

/// A buffer with a size in bytes.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The storage.
    pub storage: Storage,
    /// The size in bytes.
    pub size: usize,
}

/// The instructions that access a buffer, by position.
#[derive(Clone, Debug, Default)]
struct Accesses {
    writers: BTreeSet<usize>,
    readers: BTreeSet<usize>,
}

/// The program of a partition.
pub struct Program<'g> {
    /// The partition.
    pub graph: &'g Graph,
    /// The architecture of the packing.
    pub architecture: Architecture,
    /// All buffers; a [`Buffer`] is an index, and the slot number of operands.
    pub buffers: Vec<Memory>,
    /// The instructions; `None` where an instruction became a part of another.
    pub instructions: Vec<Option<Instruction>>,
    /// The graph node of each instruction; the first node of a fused instruction.
    pub origins: Vec<usize>,
    /// The int8 weights behind f32 weights, by the buffer of the f32 weights.
    pub int8_weights: BTreeMap<Buffer, ByteWeights>,
    /// The tensors of the values that nodes compute, before fusion. A fused instruction writes the last of its values only.
    pub tensors: Vec<(ValueId, Tensor)>,
    accesses: Vec<Accesses>,
}

impl<'g> Program<'g> {
    /// A program without instructions.
    pub const fn new(graph: &'g Graph, architecture: Architecture) -> Self {
        Self {
            graph,
            architecture,
            buffers: Vec::new(),
            instructions: Vec::new(),
            origins: Vec::new(),
            int8_weights: BTreeMap::new(),
            tensors: Vec::new(),
            accesses: Vec::new(),
        }
    }

    /// A new buffer of `size` bytes.
    pub fn buffer(&mut self, storage: Storage, size: usize) -> Buffer {
        self.buffers.push(Memory { storage, size });
        self.accesses.push(Accesses::default());
        Buffer(self.buffers.len() as u32 - 1)
    }

    /// The slot of a constant computed by lowering.
    pub fn constant(&mut self, bytes: Vec<u8>) -> SlotNumber {
        let size = bytes.len();
        SlotNumber(self.buffer(Storage::Made(bytes), size).0)
    }

    /// Weights packed when the blob is written; equal weights are packed once.
    pub fn packed(&mut self, packing: Packing) -> Result<Weights, Problem> {
        let (size, form) = (packing.size(self.architecture)?, packing.form.clone());
        Ok(form.weights(SlotNumber(self.buffer(Storage::Packed(packing), size).0)))
    }

    /// Weights of several matrices, packed one behind another.
    pub fn stacked(&mut self, packings: Vec<Packing>) -> Result<Weights, Problem> {
        let form = packings.first().ok_or(Problem::Weights)?.form.clone();
        let stack = Stack(packings);
        let size = stack.size(self.architecture)?;
        Ok(form.weights(SlotNumber(self.buffer(Storage::Stacked(stack), size).0)))
    }

    /// The storage and size of an operand's buffer; `None` for an absent operand.
    pub fn memory(&self, slot: SlotNumber) -> Option<&Memory> {
        self.buffers.get(slot.0 as usize)
    }

    /// Appends an instruction of a graph node.
    pub fn push(&mut self, instruction: Instruction, origin: usize) {
        self.instructions.push(None);
        self.origins.push(origin);
        self.put(self.instructions.len() - 1, instruction);
    }

    /// The instruction at a position; `None` where the instruction became a part of another.
    pub fn instruction(&self, position: usize) -> Option<Instruction> {
        *self.instructions.get(position)?
    }

    /// The position of the only instruction that writes a buffer.
    pub fn only_writer(&self, slot: SlotNumber) -> Option<usize> {
        only(&self.accesses.get(slot.0 as usize)?.writers)
    }

    /// The position of the only instruction that reads a buffer.
    pub fn only_reader(&self, slot: SlotNumber) -> Option<usize> {
        only(&self.accesses.get(slot.0 as usize)?.readers)
    }

    /// Whether an instruction reads a buffer.
    pub fn is_read(&self, slot: SlotNumber) -> bool {
        self.accesses.get(slot.0 as usize).is_some_and(|accesses| !accesses.readers.is_empty())
    }

    /// Whether an instruction strictly between two positions writes a buffer.
    pub fn is_written_between(&self, slot: SlotNumber, first: usize, last: usize) -> bool {
        let accesses = self.accesses.get(slot.0 as usize);
        accesses.is_some_and(|accesses| accesses.writers.range(first + 1..last).next().is_some())
    }

    /// Replaces the instruction at `consumer` by an instruction that does the work of the instruction at `producer` too.
    pub fn fuse(&mut self, producer: usize, consumer: usize, instruction: impl Into<Instruction>) {
        self.origins[consumer] = self.origins[consumer].min(self.origins[producer]);
        self.remove(producer);
        self.replace(consumer, instruction);
    }

    /// Replaces the instruction at a position.
    pub fn replace(&mut self, position: usize, instruction: impl Into<Instruction>) {
        self.remove(position);
        self.put(position, instruction.into());
    }

    /// Removes the instruction at a position.
    pub fn remove(&mut self, position: usize) {
        if let Some(removed) = self.instructions[position].take() {
            self.update(&removed, |positions| _ = positions.remove(&position));
        }
    }

    fn put(&mut self, position: usize, instruction: Instruction) {
        self.update(&instruction, |positions| _ = positions.insert(position));
        self.instructions[position] = Some(instruction);
    }

    fn update(&mut self, instruction: &Instruction, change: impl Fn(&mut BTreeSet<usize>)) {
        instruction.visit_slots(&mut |slot, access| {
            if let Some(accesses) = self.accesses.get_mut(slot as usize) {
                change(match access {
                    Access::Read => &mut accesses.readers,
                    Access::Write => &mut accesses.writers,
                });
            }
        });
    }
}

fn only(positions: &BTreeSet<usize>) -> Option<usize> {
    let mut positions = positions.iter();
    positions.next().filter(|_| positions.next().is_none()).copied()
}
