//! What instructions need to know of the rows of a tile before the first panel: their sums, or all bytes side by side.
#![allow(unsafe_code, reason = "windows are read by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is an inner loop under the contract of `Gather`")]

use super::dot::Dots;

/// The rows of a tile.
///
/// # Safety
///
/// `table` has `rows` pointers for each run, each valid for `length` bytes; `addends` takes `rows` sums; `to`, if it is
/// not null, takes rows `stride` bytes apart, with room for each run filled up to a multiple of four, and for a register behind
/// the last.
pub struct Gather {
    /// Pointers to the runs of the rows.
    pub table: *const *const i8,
    /// Rows.
    pub rows: usize,
    /// Runs of a window.
    pub runs: usize,
    /// Bytes of a run.
    pub length: usize,
    /// What sums are multiplied by.
    pub factor: i32,
    /// The sums of the rows.
    pub addends: *mut i32,
    /// Where rows are copied, or null.
    pub to: *mut i8,
    /// Bytes from a copied row to the next.
    pub stride: usize,
}

/// [`compute`] for an instruction set.
pub type GatherKernel = unsafe fn(&Gather);

/// Adds up, and copies, the rows of a tile.
///
/// # Safety
///
/// The processor has the instructions of `D`; what `Gather` asks for.
#[inline(always)]
pub unsafe fn compute<D: Dots>(gather: &Gather) {
    // What is known of the copy makes two loops.
    for row in 0..gather.rows {
        let sum = if gather.to.is_null() {
            row_sum::<D>(gather, row, core::ptr::null_mut())
        } else {
            row_sum::<D>(gather, row, gather.to.add(row * gather.stride))
        };
        *gather.addends.add(row) = sum.wrapping_mul(gather.factor);
    }
}

/// The sum of a row, which is copied unless `to` is null.
#[inline(always)]
unsafe fn row_sum<D: Dots>(gather: &Gather, row: usize, mut to: *mut i8) -> i32 {
    let (mut sum, mut rest) = (D::zero(), 0);
    for run in 0..gather.runs {
        let mut from = *gather.table.add(run * gather.rows + row);
        let mut left = gather.length;
        while left >= D::CHUNK {
            sum = sum.take_chunk(from, to);
            (from, to, left) = (from.add(D::CHUNK), advanced(to, D::CHUNK), left - D::CHUNK);
        }
        if left > 0 {
            (sum, rest) = sum.take_rest(from, to, left, rest);
            to = advanced(to, left.next_multiple_of(4));
        }
    }
    sum.total().wrapping_add(rest)
}

/// A place further on, unless it is null.
#[inline(always)]
fn advanced(to: *mut i8, count: usize) -> *mut i8 {
    if to.is_null() { to } else { to.wrapping_add(count) }
}
