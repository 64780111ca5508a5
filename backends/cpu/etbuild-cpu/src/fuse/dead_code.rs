//! An instruction whose outputs nothing reads is removed: a copy or conversion for an operand that fusion replaced.

use et_cpu::{Access, SlotNumber};

use super::Change;
use crate::program::{Program, Storage};

/// Removes an instruction without readers.
pub fn find(program: &mut Program<'_>, position: usize) -> Option<Change> {
    let mut is_dead = true;
    program.instruction(position)?.visit_slots(&mut |slot, access| {
        let slot = SlotNumber(slot);
        let is_scratch = program.memory(slot).is_some_and(|memory| matches!(memory.storage, Storage::Scratch));
        is_dead &= access == Access::Read || (is_scratch && !program.is_read(slot));
    });
    is_dead.then_some(Change::Remove)
}
