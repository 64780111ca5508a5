//! K elements of several rows as operands of the int8 dot products.
#![allow(unsafe_code, reason = "instructions exist only on processors that have them, and memory is read by pointer")]

use et_simd::{Bytes, GemmDot, part_of_word, word};

/// Adds the products of eight K elements with [`GemmDot::PAIRS`]. Accumulators 2 i and 2 i + 1 are the first and the last
/// columns of rows 2 i and 2 i + 1, until [`unpair`]; without a partner, the last row has accumulators as of
/// [`GemmDot::add`]. `read` loads eight int8 of a row.
///
/// # Safety
///
/// The CPU has the ISA of `D`.
#[inline(always)]
pub unsafe fn add_eight<D: GemmDot, const R: usize, const V: usize>(
    sums: &mut [[Bytes<D>; V]; R],
    weights: [[D::Weights; 2]; V],
    read: impl Fn(usize) -> i64,
) {
    // SAFETY: the caller guarantees the ISA.
    unsafe {
        let mut columns = weights;
        for columns in &mut columns {
            *columns = D::interleave(*columns);
        }
        let mut pairs = sums.chunks_exact_mut(2);
        for (pair, sums) in pairs.by_ref().enumerate() {
            let rows = D::pair([read(2 * pair), read(2 * pair + 1)]);
            for vector in 0..V {
                sums[0][vector] = D::add_pair(sums[0][vector], columns[vector][0], rows);
                sums[1][vector] = D::add_pair(sums[1][vector], columns[vector][1], rows);
            }
        }
        for sums in pairs.into_remainder() {
            let eight = read(R - 1);
            let [first, second] = [D::spread(eight as i32), D::spread((eight >> 32) as i32)];
            for vector in 0..V {
                let sum = D::add(sums[vector], weights[vector][0], first);
                sums[vector] = D::add(sum, weights[vector][1], second);
            }
        }
    }
}

/// Orders the accumulators of [`add_eight`] by rows.
///
/// # Safety
///
/// The CPU has the ISA of `D`.
#[inline(always)]
pub unsafe fn unpair<D: GemmDot, const R: usize, const V: usize>(sums: &mut [[Bytes<D>; V]; R]) {
    for [first, last] in sums.as_chunks_mut::<2>().0 {
        for (first, last) in first.iter_mut().zip(last) {
            // SAFETY: the caller guarantees the ISA.
            [*first, *last] = unsafe { D::unpair([*first, *last]) };
        }
    }
}

/// Loads up to eight bytes, zero-extended.
///
/// # Safety
///
/// `from` is valid for the smaller of `count` and eight bytes.
#[inline(always)]
pub unsafe fn eight_bytes(from: *const i8, count: usize) -> i64 {
    // SAFETY: the caller upholds the contract of this function.
    unsafe {
        match count {
            0..4 => i64::from(part_of_word(from, count)),
            4..8 => {
                let high = part_of_word(from.add(4), count - 4);
                i64::from(word(from).cast_unsigned()) | i64::from(high) << 32
            }
            _ => from.cast::<i64>().read_unaligned(),
        }
    }
}
