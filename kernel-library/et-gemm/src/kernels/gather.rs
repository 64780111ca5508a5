//! LHS packing: row sums of A (the correction for u8 weights), and contiguous copies of the rows for AMX.
#![allow(unsafe_code, reason = "windows are read by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is an inner loop under the contract of `Gather`")]

use et_simd::{GemmDot, Integer, Simd};

/// Arguments of LHS packing for a tile.
///
/// # Safety
///
/// `table` has `rows` pointers per K segment, each valid for `length` bytes; `addends` has room for `rows` sums; `to`,
/// unless null, has room for rows `stride` bytes apart, with each K segment padded to a multiple of four, and for a
/// full register behind the last row.
pub struct Gather {
    /// The indirection buffer: pointers to the K segments of the rows.
    pub table: *const *const i8,
    /// Rows.
    pub rows: usize,
    /// K segments per row.
    pub runs: usize,
    /// Bytes per K segment.
    pub length: usize,
    /// Multiplier of the row sums: minus the offset of the packed weights.
    pub factor: i32,
    /// Destination of the scaled row sums.
    pub addends: *mut i32,
    /// Destination of the packed rows, or null.
    pub to: *mut i8,
    /// Row stride of the packed rows, in bytes.
    pub stride: usize,
}

/// Computes the row sums of a tile, and packs the rows if `to` is not null.
///
/// # Safety
///
/// The CPU has the ISA of `D`, and the contract of [`Gather`] holds.
#[inline(always)]
pub unsafe fn compute<D: GemmDot>(gather: &Gather) {
    // The branch on a null `to` specializes two inner loops.
    for row in 0..gather.rows {
        let sum = if gather.to.is_null() {
            row_sum::<D>(gather, row, core::ptr::null_mut())
        } else {
            row_sum::<D>(gather, row, gather.to.add(row * gather.stride))
        };
        *gather.addends.add(row) = sum.wrapping_mul(gather.factor);
    }
}

/// The sum of a row; packs the row unless `to` is null.
#[inline(always)]
unsafe fn row_sum<D: GemmDot>(gather: &Gather, row: usize, mut to: *mut i8) -> i32 {
    let (isa, chunk) = (D::Isa::assume(), const { 4 * D::LANES });
    let mut sum = isa.splat_i32(0);
    for run in 0..gather.runs {
        let mut from = *gather.table.add(run * gather.rows + row);
        let mut left = gather.length;
        while left >= chunk {
            let bytes = isa.read_i32(from.cast());
            if !to.is_null() {
                isa.write_i32(to.cast(), bytes);
            }
            sum = D::add_bytes(sum, bytes);
            (from, to, left) = (from.add(chunk), advanced(to, chunk), left - chunk);
        }
        if left > 0 {
            sum = D::add_rest(sum, from, to, left);
            to = advanced(to, left.next_multiple_of(4));
        }
    }
    sum.sum()
}

/// `to + count`, or null if `to` is null.
#[inline(always)]
fn advanced(to: *mut i8, count: usize) -> *mut i8 {
    if to.is_null() { to } else { to.wrapping_add(count) }
}
