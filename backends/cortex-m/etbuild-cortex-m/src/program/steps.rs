//! The instructions of a partition in order, with the memory that they use.

use std::rc::Rc;

use et_cortex_m::{ALIGNMENT, Instruction};
use et_record::Record;
use etbuild_backend::{Life, ScratchPlan, plan_scratch};

/// The memory of a buffer.
#[derive(Clone, Copy, Debug)]
pub enum Storage {
    /// An argument of the call.
    Argument(u32),
    /// Bytes of scratch.
    Scratch(usize),
}

/// Instructions and buffers. The argument of a place is the number of a buffer, and its offset one within the buffer.
#[derive(Clone, Default)]
pub struct Steps {
    /// The buffers.
    pub buffers: Vec<Storage>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The value that each instruction computes.
    pub layers: Vec<Rc<str>>,
}

impl Steps {
    /// Adds an instruction that computes the value `layer`.
    pub fn push(&mut self, instruction: Instruction, layer: impl Into<Rc<str>>) {
        self.instructions.push(instruction);
        self.layers.push(layer.into());
    }

    /// Whether a buffer is scratch.
    pub fn is_scratch(&self, buffer: usize) -> bool {
        matches!(self.buffers.get(buffer), Some(Storage::Scratch(_)))
    }

    /// The buffers that an instruction uses.
    pub fn used(&self, position: usize) -> Vec<usize> {
        let mut used = Vec::new();
        let mut instruction = self.instructions.get(position).copied();
        instruction.iter_mut().for_each(|one| one.visit(&mut |operand| used.push(*operand.memory as usize)));
        used
    }

    /// The memory plan of the scratch.
    pub fn plan(&self) -> ScratchPlan {
        plan_scratch(&self.sizes(), &self.lives(), ALIGNMENT)
    }

    /// The most bytes of scratch that an instruction needs: no plan is smaller.
    pub fn most_at_once(&self) -> usize {
        let mut changes = vec![0_isize; self.instructions.len() + 1];
        for (size, life) in self.sizes().iter().zip(self.lives()) {
            let (Some((first, last)), size) = (life, size.next_multiple_of(ALIGNMENT) as isize) else { continue };
            changes[first] += size;
            changes[last + 1] -= size;
        }
        let used = changes.into_iter().scan(0, |used, change| {
            *used += change;
            Some(*used)
        });
        used.max().unwrap_or(0).unsigned_abs()
    }

    fn sizes(&self) -> Vec<usize> {
        let size = |storage: &Storage| if let Storage::Scratch(size) = storage { *size } else { 0 };
        self.buffers.iter().map(size).collect()
    }

    /// The first and the last instruction of each buffer.
    pub fn lives(&self) -> Vec<Option<Life>> {
        let mut lives: Vec<Option<Life>> = vec![None; self.buffers.len()];
        for position in 0..self.instructions.len() {
            for buffer in self.used(position) {
                let life = &mut lives[buffer];
                *life = Some((life.map_or(position, |(first, _)| first), position));
            }
        }
        lives
    }
}
