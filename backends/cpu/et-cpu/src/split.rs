//! Work on the threads of a call, and what each may write.
#![allow(unsafe_code, reason = "tasks write disjoint parts of one result, and have memory of their own")]

use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use et_core::{Error, Result};
use et_gemm::{Block, Grid};

use crate::memory::Written;
use crate::run::Context;

/// A pointer that tasks share.
struct Shared<T>(*mut T);

// SAFETY: tasks reach disjoint elements through it.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The pointer: a method, so that closures capture the whole.
    const fn get(&self) -> *mut T {
        self.0
    }
}

/// Work cut into chunks: rounds of one for each thread, the chunks of a round half as large as those of the round before, so
/// that others finish what a thread that is held up does not come to. Chunks of a round are equal, so that threads which are not
/// held up finish together.
#[derive(Clone, Copy)]
pub struct Chunks {
    threads: usize,
    rounds: u32,
}

/// The most rounds.
const ROUNDS: u32 = 3;

/// How much larger than the least that is worth a thread the smallest chunk of several rounds is: small ones read operands
/// again that a large one reads once.
const SMALLEST: usize = 32;

impl Chunks {
    /// Chunks of `units` units, of which a thread should have at least `least`.
    pub fn new(context: &Context<'_, '_, '_>, units: usize, least: usize) -> Self {
        let (least, most) = (least.max(1), context.workers.threads().min(context.threads).max(1));
        let threads = units.div_ceil(least).clamp(1, most);
        let smallest = threads.saturating_mul(least).saturating_mul(SMALLEST);
        let enough = |rounds: &u32| units / smallest >= (1 << rounds) - 1;
        let rounds = if threads == 1 { 1 } else { (1..=ROUNDS).rev().find(enough).unwrap_or(1) };
        Self { threads, rounds }
    }

    /// One for each of at most so many threads.
    pub fn at_most(self, threads: usize) -> Self {
        Self { threads: self.threads.min(threads.max(1)), ..self }
    }

    /// The threads that it is for.
    pub const fn threads(self) -> usize {
        self.threads
    }

    const fn count(self) -> usize {
        self.threads * self.rounds as usize
    }

    /// Chunk `index` of `units` units; it may be empty.
    fn part(self, index: usize, units: usize) -> Range<usize> {
        let (round, place) = (index / self.threads, index % self.threads);
        let before = self.before(round, units);
        let size = self.before(round + 1, units) - before;
        let start = before * self.threads + place * size;
        start.min(units)..(start + size).min(units)
    }

    /// The units that each thread has before a round.
    fn before(self, round: usize, units: usize) -> usize {
        let each = units.div_ceil(self.threads);
        (0..round).fold(0, |done, round| {
            // All later rounds together are less than this one by a chunk of the last.
            let weight = 1 << (self.rounds as usize - 1 - round);
            done + ((each - done) * weight).div_ceil(2 * weight - 1)
        })
    }
}

/// A chunk, and what the thread that does it works with.
pub struct Task<'t> {
    chunks: Chunks,
    index: usize,
    /// Memory of the thread's own.
    pub workspace: &'t mut [u8],
}

impl Task<'_> {
    /// Its part of `units` units; it may be empty.
    pub fn range(&self, units: usize) -> Range<usize> {
        self.chunks.part(self.index, units)
    }

    /// Its part of a product; it may be empty.
    pub fn block(&self, grid: &Grid) -> Block {
        let axis = grid.axis(self.chunks.threads);
        let range = self.range(grid.count(axis));
        grid.block(axis, [range.start, range.end])
    }
}

/// Calls `task` for each chunk, on at most as many threads as there is memory for. The first error of any is returned.
pub fn tasks(
    context: &Context<'_, '_, '_>,
    chunks: Chunks,
    task: impl Fn(Task<'_>) -> Result<()> + Sync,
) -> Result<()> {
    let failed = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let (start, size) = context.memory.workspace(0)?;
    context.memory.workspace(chunks.threads - 1)?;
    let start = Shared(start);
    context.workers.run(chunks.threads, &|thread| {
        let workspace = if size == 0 {
            &mut [][..]
        } else {
            // SAFETY: `Memory::workspace` checked that each thread's part is there; numbers are given out once.
            unsafe { core::slice::from_raw_parts_mut(start.get().add(thread * size), size) }
        };
        let mut run = |index| {
            if task(Task { chunks, index, workspace: &mut *workspace }).is_err() {
                failed.store(true, Ordering::Relaxed);
            }
        };
        if chunks.rounds == 1 {
            return run(thread);
        }
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                index if index < chunks.count() => run(index),
                _ => return,
            }
        }
    });
    if failed.load(Ordering::Relaxed) { Err(Error::InvalidProgram) } else { Ok(()) }
}

/// Whether elements with these sizes and strides are all different ones, so that several tasks may write them.
pub fn are_apart<const N: usize>(mut dims: [(usize, usize); N]) -> bool {
    dims.sort_unstable_by_key(|(size, stride)| (*size > 1, *stride));
    let mut reach = 1;
    dims.into_iter().filter(|(size, _)| *size > 1).all(|(size, stride)| {
        let apart = stride >= reach;
        reach = (size - 1).saturating_mul(stride).saturating_add(reach);
        apart
    })
}

/// Writes disjoint runs of `width` elements each: `task` gets its runs and the elements of them.
pub fn runs<T: Send>(
    context: &Context<'_, '_, '_>,
    written: Written<'_, T>,
    width: usize,
    least: usize,
    task: impl Fn(Range<usize>, &mut [T], &mut [u8]) -> Result<()> + Sync,
) -> Result<()> {
    let (start, count) = written.raw();
    let units = count.checked_div(width).ok_or(Error::InvalidProgram)?;
    let start = Shared(start);
    tasks(context, Chunks::new(context, units, least), |chunk| {
        let range = chunk.range(units);
        // SAFETY: chunks are disjoint ranges of what `written` has, to which it is the only access.
        let elements =
            unsafe { core::slice::from_raw_parts_mut(start.get().add(range.start * width), range.len() * width) };
        if range.is_empty() { Ok(()) } else { task(range, elements, chunk.workspace) }
    })
}

/// The first element of what is written, for kernels that split the elements themselves.
pub struct Elements<T>(Shared<T>);

impl<T> Elements<T> {
    /// That of what is written.
    pub const fn new(written: &Written<'_, T>) -> Self {
        Self(Shared(written.raw().0))
    }

    /// The pointer.
    pub const fn start(&self) -> *mut T {
        self.0.get()
    }

    /// Some of the elements.
    ///
    /// # Safety
    /// They are of what is written, which is borrowed for `'m`, and no other task has them.
    pub const unsafe fn part<'m>(&self, range: Range<usize>) -> &'m mut [T] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(self.start().add(range.start), range.end - range.start) }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    #[test]
    fn rows_that_overlap_are_not_apart() {
        assert!(are_apart([(4, 8), (8, 1), (1, 0)]));
        assert!(!are_apart([(4, 7), (8, 1)]));
        assert!(!are_apart([(2, 0), (8, 1)]));
    }

    #[test]
    fn chunks_cover_the_whole_once_and_threads_evenly() {
        for (threads, rounds) in [(1, 1), (2, 1), (2, 3), (3, 2), (5, 3)] {
            let chunks = Chunks { threads, rounds };
            for units in 0..100 {
                let parts: Vec<_> = (0..chunks.count()).map(|index| chunks.part(index, units)).collect();
                assert!(parts.iter().cloned().flatten().eq(0..units), "{units} {threads} {rounds}");
                let most = (0..threads).map(|thread| parts.iter().skip(thread).step_by(threads).map(Range::len).sum());
                assert_eq!(most.max(), Some(units.div_ceil(threads)), "{units} {threads} {rounds}");
            }
            let sizes: Vec<_> = (0..chunks.count()).map(|index| chunks.part(index, 1 << 20).len()).collect();
            assert!(sizes.is_sorted_by(|one, other| one >= other));
        }
    }
}
