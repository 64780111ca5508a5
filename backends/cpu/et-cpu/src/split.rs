//! Parallel execution: partitions work among the threads of a call, with disjoint output elements.
#![allow(unsafe_code, reason = "tasks write disjoint parts of one result, and have memory of their own")]

use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use et_core::{Error, Plain, Result};
use et_gemm::{Block, Grid, Isa, Output};
use et_runtime::Workers;
use et_simd::Level;

use crate::Rows;
use crate::memory::{Memory, Operands, Written};

/// The execution context of instructions.
pub struct Context<'r, 'a, 'c> {
    /// The operand memory of the delegate call.
    pub memory: &'r Memory<'a, 'c>,
    /// The thread pool.
    pub workers: &'r dyn Workers,
    /// The maximum number of threads in the memory plan of the blob.
    pub threads: usize,
    /// The instruction set of the GEMM micro-kernels.
    pub isa: Isa,
    /// The SIMD level of all further kernels.
    pub level: Level,
}

/// A pointer that tasks share.
struct Shared<T>(*mut T);

// SAFETY: tasks access disjoint elements through the pointer.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: tasks access disjoint elements through the pointer.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The pointer: a method, so that closures capture the whole struct.
    const fn get(&self) -> *mut T {
        self.0
    }
}

/// Work partitioned into rounds of one chunk per thread. The chunks of a round are half as large as the chunks of the round before,
/// so that fast threads take over the chunks of a preempted thread. The chunks of a round are equal, so that undisturbed threads
/// finish together.
#[derive(Clone, Copy)]
pub struct Chunks {
    threads: usize,
    rounds: u32,
}

/// The maximum number of rounds.
const ROUNDS: u32 = 3;

/// The smallest chunk of several rounds, as a multiple of `least`: small chunks reload operand tiles and panels that a large
/// chunk loads once.
const SMALLEST: usize = 32;

impl Chunks {
    /// Chunks of `units` units; a thread gets at least `least` units.
    pub fn new(context: &Context<'_, '_, '_>, units: usize, least: usize) -> Self {
        let (least, most) = (least.max(1), context.workers.threads().min(context.threads).max(1));
        let threads = units.div_ceil(least).clamp(1, most);
        let smallest = threads.saturating_mul(least).saturating_mul(SMALLEST);
        let enough = |rounds: &u32| units / smallest >= (1 << rounds) - 1;
        let rounds = if threads == 1 { 1 } else { (1..=ROUNDS).rev().find(enough).unwrap_or(1) };
        Self { threads, rounds }
    }

    /// The chunks on at most `threads` threads.
    pub fn at_most(self, threads: usize) -> Self {
        Self { threads: self.threads.min(threads.max(1)), ..self }
    }

    /// The number of threads.
    pub const fn threads(self) -> usize {
        self.threads
    }

    const fn count(self) -> usize {
        self.threads * self.rounds as usize
    }

    /// The range of chunk `index` in `units` units, possibly empty.
    fn part(self, index: usize, units: usize) -> Range<usize> {
        let (round, place) = (index / self.threads, index % self.threads);
        let before = self.before(round, units);
        let size = self.before(round + 1, units) - before;
        let start = before * self.threads + place * size;
        start.min(units)..(start + size).min(units)
    }

    /// The units of each thread before a round.
    fn before(self, round: usize, units: usize) -> usize {
        let each = units.div_ceil(self.threads);
        (0..round).fold(0, |done, round| {
            // All later rounds together have one chunk of the last round less than this round.
            let weight = 1 << (self.rounds as usize - 1 - round);
            done + ((each - done) * weight).div_ceil(2 * weight - 1)
        })
    }
}

/// A chunk of work, with the workspace of the thread that executes the chunk.
pub struct Task<'t> {
    chunks: Chunks,
    index: usize,
    /// The workspace of the thread.
    pub workspace: &'t mut [u8],
}

impl Task<'_> {
    /// The range of the chunk in `units` units, possibly empty.
    pub fn range(&self, units: usize) -> Range<usize> {
        self.chunks.part(self.index, units)
    }

    /// The output block of a GEMM that the chunk computes, possibly empty.
    pub fn block(&self, grid: &Grid) -> Block {
        grid.share(self.chunks.threads, |count| self.range(count))
    }
}

/// Calls `task` for each chunk, on at most the threads of the memory plan. Fails if a task fails.
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
            // SAFETY: `Memory::workspace` checked the workspaces of all threads, and each thread number is in use once.
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

/// A product of sizes.
pub fn count(sizes: &[usize]) -> Result<usize> {
    sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size)).ok_or(Error::InvalidProgram)
}

/// The number of elements that the strides of a tensor span.
pub fn span<const N: usize>(sizes: [usize; N], strides: [usize; N]) -> Result<usize> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    let mut distances = sizes.into_iter().zip(strides).map(|(size, stride)| (size - 1).checked_mul(stride));
    let last = distances.try_fold(1_usize, |end, distance| end.checked_add(distance?));
    last.ok_or(Error::InvalidProgram)
}

/// Whether the sizes and strides of an output tensor address distinct elements, so that tasks may write in parallel.
pub fn are_apart<const N: usize>(mut dims: [(usize, usize); N]) -> bool {
    dims_are_apart(&mut dims)
}

/// Compiled once for all numbers of dimensions.
fn dims_are_apart(dims: &mut [(usize, usize)]) -> bool {
    dims.sort_unstable_by_key(|(size, stride)| (*size > 1, *stride));
    let mut reach = 1;
    dims.iter().filter(|(size, _)| *size > 1).all(|(size, stride)| {
        let apart = *stride >= reach;
        reach = (size - 1).saturating_mul(*stride).saturating_add(reach);
        apart
    })
}

/// Writes disjoint runs of `width` elements: `task` gets a range of runs and their elements.
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
        // SAFETY: chunks are disjoint ranges of the output tensor, and `written` is the only access to the tensor.
        let elements =
            unsafe { core::slice::from_raw_parts_mut(start.get().add(range.start * width), range.len() * width) };
        if range.is_empty() { Ok(()) } else { task(range, elements, chunk.workspace) }
    })
}

/// The first element of an output tensor, for kernels that partition the elements themselves.
pub struct Elements<T>(Shared<T>);

impl<T> Elements<T> {
    /// The first element of `written`.
    pub const fn new(written: &Written<'_, T>) -> Self {
        Self(Shared(written.raw().0))
    }

    /// The pointer.
    pub const fn start(&self) -> *mut T {
        self.0.get()
    }

    /// A range of elements of the output tensor.
    ///
    /// # Safety
    /// The range lies in the output tensor, which is borrowed for `'m`, and no other task accesses the range.
    pub const unsafe fn part<'m>(&self, range: Range<usize>) -> &'m mut [T] {
        // SAFETY: guaranteed by the caller.
        unsafe { core::slice::from_raw_parts_mut(self.start().add(range.start), range.end - range.start) }
    }
}

/// A matrix operand of a GEMM.
#[derive(Clone, Copy)]
pub struct Rectangle {
    /// The address and row stride of the matrix.
    pub place: Rows,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
}

impl Rectangle {
    /// The number of elements that the row stride spans.
    pub fn span(&self) -> Result<usize> {
        span([self.rows, self.columns], [self.place.stride as usize, 1])
    }

    /// The elements of an input matrix.
    pub fn read<'m, T: Plain>(&self, operands: &mut Operands<'m, '_, '_>) -> Result<&'m [T]> {
        operands.read(self.place.place, self.span()?)
    }

    /// Writes the output matrix: `compute` gets every block of the grid once. All other operands must be read before this call. `work`
    /// is the number of multiply-accumulates; a task has at least `least`.
    pub fn write<T: Plain>(
        &self,
        context: &Context<'_, '_, '_>,
        mut operands: Operands<'_, '_, '_>,
        grid: &Grid,
        (work, least): (usize, usize),
        compute: impl Fn(&mut Output<'_, T>, Block, &mut [u8]) -> Result<()> + Sync,
    ) -> Result<()> {
        let stride = self.place.stride as usize;
        let written = operands.write::<T>(self.place.place, self.span()?)?;
        if !are_apart([(self.rows, stride), (self.columns, 1)]) {
            return Err(Error::InvalidProgram);
        }
        let elements = Elements::new(&written);
        tasks(context, Chunks::new(context, work, least), |chunk| {
            // SAFETY: `written` is the only access to the output matrix, and the blocks of a grid are disjoint.
            let mut output = unsafe { Output::from_raw(elements.start(), self.rows, self.columns, stride) };
            compute(&mut output, chunk.block(grid), chunk.workspace)
        })
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
