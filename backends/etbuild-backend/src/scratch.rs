//! The memory plan of a partition's scratch: buffers with disjoint lifetimes share memory.

use std::cmp::Reverse;

/// The lifetime of a buffer: the first and the last instruction that use the buffer.
pub type Life = (usize, usize);

/// The memory plan of a partition's scratch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchPlan {
    /// The offset of each buffer in bytes; 0 for buffers without a lifetime.
    pub starts: Vec<usize>,
    /// The size of the scratch in bytes.
    pub size: usize,
}

/// Places the largest buffer first, each at the lowest multiple of `alignment` that is free during its lifetime. `sizes` are in
/// bytes; a buffer without a lifetime takes no memory.
pub fn plan_scratch(sizes: &[usize], lives: &[Option<Life>], alignment: usize) -> ScratchPlan {
    let mut order: Vec<(usize, usize, Life)> = sizes
        .iter()
        .zip(lives)
        .enumerate()
        .filter_map(|(index, (size, life))| life.map(|life| (index, *size, life)))
        .collect();
    order.sort_by_key(|(index, size, _)| (Reverse(*size), *index));
    let mut plan = ScratchPlan { starts: vec![0; sizes.len()], size: 0 };
    let mut placed: Vec<(usize, usize, Life)> = Vec::new();
    for (index, size, life) in order {
        let size = size.next_multiple_of(alignment);
        let start = lowest(&placed, life, size);
        let at = placed.partition_point(|(other, ..)| *other < start);
        placed.insert(at, (start, size, life));
        plan.starts[index] = start;
        plan.size = plan.size.max(start + size);
    }
    plan
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_share_memory_unless_their_lives_meet() {
        let plan = plan_scratch(&[16, 8, 24], &[Some((0, 1)), Some((1, 2)), Some((2, 3))], 8);
        assert_eq!((plan.starts, plan.size), (vec![0, 24, 0], 32));
    }
}
