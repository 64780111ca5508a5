//! Packs keys and values for the micro-kernels.
#![allow(unsafe_code)] // Squares are transposed through pointers.

use et_simd::Simd;

use super::kept::Kept;

/// Packs `count` keys into panels of [`Simd::LANES`] keys, element index by element index. Missing keys of the last
/// panel are 0.
///
/// # Safety
/// `from` has `count` keys with a stride of `step` elements, and `to` has room for the panels.
#[inline(always)]
pub unsafe fn keys<S: Simd, K: Kept>(isa: S, from: *const K, step: usize, count: usize, width: usize, to: *mut f32) {
    for (panel, first) in (0..count).step_by(S::LANES).enumerate() {
        // SAFETY: the caller guarantees room for the panel, and the panel's keys are below `count`.
        unsafe {
            let (from, to) = (from.add(first * step), to.add(panel * width * S::LANES));
            key_panel(isa, from, step, S::LANES.min(count - first), width, to);
        }
    }
}

/// # Safety
/// As for [`keys`], for a single panel.
#[inline(always)]
unsafe fn key_panel<S: Simd, K: Kept>(isa: S, from: *const K, step: usize, count: usize, width: usize, to: *mut f32) {
    let squares = if count == S::LANES { width - width % S::LANES } else { 0 };
    // SAFETY: the tile is within the keys of a full panel.
    unsafe {
        for at in (0..squares).step_by(S::LANES) {
            K::transpose(isa, from, step, (at, width), to.add(at * S::LANES));
        }
        for at in squares..width {
            isa.write(to.add(at * S::LANES), isa.splat(0.0));
        }
        for lane in 0..count {
            let row = from.add(lane * step);
            let scale = K::scale(row, width);
            for at in squares..width {
                *to.add(at * S::LANES + lane) = (*row.add(at)).number() * scale;
            }
        }
    }
}

/// Packs `count` values contiguously, each padded with zeros to full vectors.
///
/// # Safety
/// `from` has `count` values with a stride of `step` elements, and `to` has room for the padded values.
#[inline(always)]
pub unsafe fn values<S: Simd, K: Kept>(isa: S, from: *const K, step: usize, count: usize, width: usize, to: *mut f32) {
    let padded = width.next_multiple_of(S::LANES);
    for index in 0..count {
        // SAFETY: the index is below `count`, and the caller guarantees `count` values and room.
        unsafe {
            let (from, to) = (from.add(index * step), to.add(index * padded));
            let scale = isa.splat(K::scale(from, width));
            for at in (0..width).step_by(S::LANES) {
                isa.write(to.add(at), K::read_some(isa, from.add(at), width - at) * scale);
            }
        }
    }
}
