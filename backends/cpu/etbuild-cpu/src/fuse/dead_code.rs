//! An instruction whose outputs nothing reads is removed: a copy or conversion for an operand that fusion replaced.

use et_cpu::record::Record;
use et_cpu::{Access, SlotNumber};

use crate::program::{Program, Storage};

/// Removes an instruction without readers.
pub fn apply(program: &mut Program<'_>, position: usize) -> bool {
    let Some(instruction) = program.instruction(position) else { return false };
    let mut is_dead = true;
    instruction.visit_slots(&mut |slot, access| {
        let is_scratch = |memory: &crate::program::Memory| matches!(memory.storage, Storage::Scratch);
        let slot = SlotNumber(slot);
        is_dead &= access == Access::Read || (program.memory(slot).is_some_and(is_scratch) && !program.is_read(slot));
    });
    if is_dead {
        program.remove(position);
    }
    is_dead
}
