//! Work on the threads of a call, and what each may write.
#![allow(unsafe_code, reason = "tasks write disjoint parts of one result, and have memory of their own")]

use core::ops::Range;
use core::sync::atomic::{AtomicU8, Ordering};

use et_core::{Error, Result};

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

/// What a task works with.
pub struct Task<'t> {
    /// Its number.
    pub index: usize,
    /// Memory of its own.
    pub workspace: &'t mut [u8],
}

/// Calls `task` for each number below `tasks`, which are at most as many as there are threads, so that each has memory of
/// its own. The first error of any is returned.
pub fn tasks(context: &Context<'_, '_, '_>, tasks: usize, task: impl Fn(Task<'_>) -> Result<()> + Sync) -> Result<()> {
    let failure = AtomicU8::new(0);
    let (start, size) = if tasks == 0 { (core::ptr::null_mut(), 0) } else { context.memory.workspace(0)? };
    context.memory.workspace(tasks.max(1) - 1)?;
    let start = Shared(start);
    context.workers.run(tasks, &|index| {
        let workspace = if size == 0 {
            &mut [][..]
        } else {
            // SAFETY: `Memory::workspace` checked that each task's part is there; numbers are given out once.
            unsafe { core::slice::from_raw_parts_mut(start.get().add(index * size), size) }
        };
        if task(Task { index, workspace }).is_err() {
            failure.store(1, Ordering::Relaxed);
        }
    });
    if failure.load(Ordering::Relaxed) == 0 { Ok(()) } else { Err(Error::InvalidProgram) }
}

/// The number of tasks for `count` units, of which one task should have at least `least`.
pub fn parts(context: &Context<'_, '_, '_>, count: usize, least: usize) -> usize {
    let most = context.workers.threads().min(context.threads).max(1);
    count.div_ceil(least.max(1)).clamp(1, most)
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

/// Part `index` of `count` units split into `parts` parts.
pub const fn part(count: usize, index: usize, parts: usize) -> Range<usize> {
    count * index / parts..count * (index + 1) / parts
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
    let (start, parts) = (Shared(start), parts(context, units, least));
    tasks(context, parts, |Task { index, workspace }| {
        let range = part(units, index, parts);
        // SAFETY: parts are disjoint ranges of what `written` has, to which it is the only access.
        let elements =
            unsafe { core::slice::from_raw_parts_mut(start.get().add(range.start * width), range.len() * width) };
        task(range, elements, workspace)
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
    use super::*;

    #[test]
    fn rows_that_overlap_are_not_apart() {
        assert!(are_apart([(4, 8), (8, 1), (1, 0)]));
        assert!(!are_apart([(4, 7), (8, 1)]));
        assert!(!are_apart([(2, 0), (8, 1)]));
    }

    #[test]
    fn parts_cover_all_units_once() {
        let parts: [Range<usize>; 3] = core::array::from_fn(|index| part(10, index, 3));
        assert_eq!(parts, [0..3, 3..6, 6..10]);
    }
}
