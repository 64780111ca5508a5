//! The memory plan of the scratch: buffers with disjoint lifetimes share memory.

use std::cmp::Reverse;

use et_cortex_m::ALIGNMENT;

/// The first and the last instruction that use a buffer.
pub type Life = (usize, usize);

/// The memory plan.
pub struct Layout {
    /// The offset of each buffer in bytes.
    pub starts: Vec<usize>,
    /// The size of the scratch in bytes.
    pub size: usize,
}

/// Places the largest buffer first, each at the lowest offset that is free during its lifetime.
pub fn lay_out(sizes: &[usize], lives: &[Option<Life>]) -> Layout {
    let mut order: Vec<usize> = (0..sizes.len()).filter(|index| sizes[*index] > 0 && lives[*index].is_some()).collect();
    order.sort_by_key(|index| (Reverse(sizes[*index]), *index));
    let mut layout = Layout { starts: vec![0; sizes.len()], size: 0 };
    let mut placed: Vec<(usize, usize, Life)> = Vec::new();
    for index in order {
        let Some(life) = lives[index] else { continue };
        let size = sizes[index].next_multiple_of(ALIGNMENT);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_share_memory_unless_their_lives_meet() {
        let layout = lay_out(&[16, 8, 24], &[Some((0, 1)), Some((1, 2)), Some((2, 3))]);
        assert_eq!((layout.starts, layout.size), (vec![0, 24, 0], 32));
    }
}
