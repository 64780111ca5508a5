//! Memory planning of the scratch arena: buffers with disjoint lifetimes share memory.

use et_cpu::ALIGNMENT;
use et_cpu::record::Record;

use crate::program::{Memory, Storage};

/// The lifetime of a buffer: the first and the last instruction that reference the buffer.
type Life = (usize, usize);

/// The memory plan: offsets of scratch buffers and the arena size.
pub struct Layout {
    /// Byte offsets by buffer; 0 for buffers outside the arena.
    pub starts: Vec<usize>,
    /// The arena size in bytes.
    pub size: usize,
}

/// Plans the scratch arena greedily by size: the largest buffer first, each at the lowest offset free during the lifetime.
pub fn lay_out(buffers: &[Memory], lives: &[Option<Life>]) -> Layout {
    let is_scratch = |index: &usize| matches!(buffers[*index].storage, Storage::Scratch) && lives[*index].is_some();
    let mut order: Vec<usize> = (0..buffers.len()).filter(is_scratch).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(buffers[*index].size), *index));
    let mut layout = Layout { starts: vec![0; buffers.len()], size: 0 };
    let mut placed: Vec<(usize, usize, Life)> = Vec::new();
    for index in order {
        let Some(life) = lives[index] else { continue };
        let size = buffers[index].size.next_multiple_of(ALIGNMENT);
        let start = lowest(&placed, life, size);
        let at = placed.partition_point(|(other, ..)| *other < start);
        placed.insert(at, (start, size, life));
        layout.starts[index] = start;
        layout.size = layout.size.max(start + size);
    }
    layout
}

/// The lowest free offset for `size` bytes among placed buffers, sorted by offset.
fn lowest(placed: &[(usize, usize, Life)], life: Life, size: usize) -> usize {
    let mut start = 0;
    for (other, length, theirs) in placed {
        let meets = life.0 <= theirs.1 && theirs.0 <= life.1;
        if meets && *other < start + size && start < other + length {
            start = other + length;
        }
    }
    start
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
