//! Removes dead copies: a view is copied for an instruction that needs other strides, and fusion may have replaced that
//! instruction by an instruction that reads the original tensor.

use std::collections::BTreeMap;

use et_cpu::record::Record;
use et_cpu::{Instruction, Rows};

use crate::builder::{Builder, Storage};

/// The number of references to each slot.
pub struct Mentions(BTreeMap<u32, usize>);

impl Mentions {
    /// The references of all instructions.
    pub fn of(builder: &Builder<'_>) -> Self {
        let mut mentions = BTreeMap::new();
        for instruction in builder.instructions.iter().flatten() {
            instruction.visit_slots(&mut |slot| *mentions.entry(slot).or_insert(0) += 1);
        }
        Self(mentions)
    }

    /// The number of references to a scratch slot; 0 for other slots.
    pub fn of_scratch(&self, builder: &Builder<'_>, slot: u32) -> usize {
        let memory = builder.buffers.get(slot as usize);
        let is_scratch = memory.is_some_and(|memory| matches!(memory.storage, Storage::Scratch));
        self.0.get(&slot).copied().filter(|_| is_scratch).unwrap_or(0)
    }

    /// Whether the output of an instruction is exactly the contiguous input of another, with `columns` columns and no third reference.
    pub fn are_between(&self, builder: &Builder<'_>, written: Rows, read: Rows, columns: u32) -> bool {
        written == read && written.stride == columns && self.of_scratch(builder, written.place.slot.0) == 2
    }

    fn forget(&mut self, instruction: &Instruction) {
        instruction.visit_slots(&mut |slot| {
            self.0.entry(slot).and_modify(|count| *count -= 1);
        });
    }
}

/// Removes all dead copies, from last to first, because a dead copy may read the output of a dead copy.
pub fn remove(builder: &mut Builder<'_>) {
    let mut mentions = Mentions::of(builder);
    for position in (0..builder.instructions.len()).rev() {
        let Some(instruction @ Instruction::Copy(copy)) = builder.instructions[position] else { continue };
        if mentions.of_scratch(builder, copy.output.slot.0) == 1 {
            mentions.forget(&instruction);
            builder.instructions[position] = None;
        }
    }
}
