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

/// The index, the size in bytes and the lifetime of a buffer.
type Buffer = (usize, usize, Life);

/// More buffers than this are placed once, without a search for a better order.
const MOST_SEARCHED: usize = 128;

/// Places buffers one after the other, each at the lowest multiple of `alignment` that is free during its lifetime: the largest
/// first, unless another order takes less memory. `sizes` are in bytes; a buffer without a lifetime takes no memory.
pub fn plan_scratch(sizes: &[usize], lives: &[Option<Life>], alignment: usize) -> ScratchPlan {
    let mut order = largest_first(sizes, lives, alignment);
    let mut best = place(&order, sizes.len());
    let bound = if order.len() > MOST_SEARCHED { usize::MAX } else { most_at_once(&order) };
    while best.size > bound {
        // Brings a buffer to the front that has to be placed earlier.
        let better = (1..order.len()).find_map(|from| {
            let mut other = order.clone();
            other[..=from].rotate_right(1);
            let plan = place(&other, sizes.len());
            (plan.size < best.size).then_some((other, plan))
        });
        let Some(better) = better else { break };
        (order, best) = better;
    }
    best
}

/// Places buffers within `capacity` bytes, the largest first, each at the lowest free multiple of `alignment`: the starts of those that fit.
/// The buffer `first` is placed before the others.
pub fn fill_memory(
    capacity: usize,
    first: Option<usize>,
    sizes: &[usize],
    lives: &[Option<Life>],
    alignment: usize,
) -> Vec<(usize, usize)> {
    let mut order = largest_first(sizes, lives, alignment);
    order.sort_by_key(|(index, ..)| Some(*index) != first);
    let found = starts(&order, |index, start| start + sizes[index] <= capacity);
    found.map(|((index, ..), start)| (*index, start)).collect()
}

/// Buffers that are placed in this order, with their starts, but for those that do not fit.
fn starts(order: &[Buffer], fits: impl Fn(usize, usize) -> bool) -> impl Iterator<Item = (&Buffer, usize)> {
    let mut placed: Vec<Buffer> = Vec::new();
    order.iter().filter_map(move |buffer| {
        let (index, size, life) = *buffer;
        let start = lowest(&placed, life, size);
        fits(index, start).then(|| {
            let at = placed.partition_point(|(other, ..)| *other < start);
            placed.insert(at, (start, size, life));
            (buffer, start)
        })
    })
}

/// Buffers with a lifetime.
fn largest_first(sizes: &[usize], lives: &[Option<Life>], alignment: usize) -> Vec<Buffer> {
    let buffers = sizes.iter().zip(lives).enumerate();
    let living =
        buffers.filter_map(|(index, (size, life))| life.map(|life| (index, size.next_multiple_of(alignment), life)));
    let mut order: Vec<Buffer> = living.collect();
    order.sort_by_key(|(index, size, _)| (Reverse(*size), *index));
    order
}

/// The plan of buffers that are placed in this order.
fn place(order: &[Buffer], count: usize) -> ScratchPlan {
    let mut plan = ScratchPlan { starts: vec![0; count], size: 0 };
    for ((index, size, _), start) in starts(order, |_, _| true) {
        plan.starts[*index] = start;
        plan.size = plan.size.max(start + size);
    }
    plan
}

/// The most bytes that are used at the same time: no plan is smaller.
fn most_at_once(buffers: &[Buffer]) -> usize {
    let at = |time: usize| {
        buffers.iter().filter(|(.., life)| life.0 <= time && time <= life.1).map(|(_, size, _)| size).sum()
    };
    buffers.iter().map(|(.., life)| at(life.0)).max().unwrap_or(0)
}

/// The lowest free offset for `size` bytes among placed buffers, sorted by offset.
fn lowest(placed: &[Buffer], life: Life, size: usize) -> usize {
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

    #[test]
    fn memory_is_filled_with_what_fits_the_largest_first() {
        let lives = [Some((0, 1)), Some((1, 2)), Some((3, 4)), Some((1, 4)), None];
        let sizes = [16, 8, 20, 33, 4];
        assert_eq!(fill_memory(32, None, &sizes, &lives, 8), [(2, 0), (0, 0), (1, 16)]);
        assert_eq!(fill_memory(32, Some(1), &sizes, &lives, 8), [(1, 0), (2, 0), (0, 8)]);
        assert_eq!(fill_memory(15, None, &sizes, &lives, 8), [(1, 0)]);
    }

    /// Largest first, the second buffer would lie in the middle and the third behind it.
    #[test]
    fn another_order_saves_memory() {
        let lives = [Some((0, 1)), Some((1, 2)), Some((2, 3)), Some((3, 4))];
        let plan = plan_scratch(&[27, 18, 18, 36], &lives, 1);
        assert_eq!(plan.size, 54);
    }
}
