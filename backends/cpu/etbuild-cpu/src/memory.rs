//! Memory planning of the scratch arena: buffers with disjoint lifetimes share memory.

use et_cpu::ALIGNMENT;
use et_record::Record;
use etbuild_backend::{Life, ScratchPlan, plan_scratch};

use crate::program::{Memory, Storage};

/// Plans the scratch arena; buffers in other storage take no part.
pub fn lay_out(buffers: &[Memory], lives: &[Option<Life>]) -> ScratchPlan {
    let sizes: Vec<usize> = buffers.iter().map(|buffer| buffer.size).collect();
    let scratch =
        |(buffer, life): (&Memory, &Option<Life>)| life.filter(|_| matches!(buffer.storage, Storage::Scratch));
    let lives: Vec<Option<Life>> = buffers.iter().zip(lives).map(scratch).collect();
    plan_scratch(&sizes, &lives, ALIGNMENT)
}

/// The lifetimes of buffers; instructions reference buffers by slot.
pub fn lives(count: usize, instructions: &[et_cpu::Instruction]) -> Vec<Option<Life>> {
    let mut lives: Vec<Option<Life>> = vec![None; count];
    for (position, instruction) in instructions.iter().enumerate() {
        instruction.visit_slots(&mut |slot, _| {
            if let Some(life) = lives.get_mut(slot as usize) {
                let begin = life.map_or(position, |(begin, _)| begin);
                *life = Some((begin, position));
            }
        });
    }
    lives
}

/// The words of a record.
pub fn words(record: &impl Record) -> Vec<u32> {
    let mut words = Vec::new();
    record.write(&mut |word| words.push(word));
    words
}
