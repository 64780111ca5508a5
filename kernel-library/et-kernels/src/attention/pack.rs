//! Keys and values in the order in which tiles read them.
#![allow(unsafe_code)] // Squares are transposed through pointers.

use et_simd::Isa;

use super::kept::Kept;

/// Packs `count` keys into panels of [`Isa::LANES`] keys: numbers of the same index are neighbours. Missing keys are 0.
///
/// # Safety
/// There are `count` keys `step` numbers apart, and room for as many panels as that takes.
#[inline(always)]
pub unsafe fn keys<S: Isa, K: Kept>(isa: S, from: *const K, step: usize, count: usize, width: usize, to: *mut f32) {
    for (panel, first) in (0..count).step_by(S::LANES).enumerate() {
        // SAFETY: the panel is within the room, its keys are among those that there are.
        unsafe {
            let (from, to) = (from.add(first * step), to.add(panel * width * S::LANES));
            key_panel(isa, from, step, S::LANES.min(count - first), width, to);
        }
    }
}

/// # Safety
/// As for [`keys`], of one panel.
#[inline(always)]
unsafe fn key_panel<S: Isa, K: Kept>(isa: S, from: *const K, step: usize, count: usize, width: usize, to: *mut f32) {
    let squares = if count == S::LANES { width - width % S::LANES } else { 0 };
    // SAFETY: a square is within all of the panel's keys.
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

/// Packs `count` values one after the other, each filled up with zeros to whole vectors.
///
/// # Safety
/// There are `count` values `step` numbers apart, and room for them.
#[inline(always)]
pub unsafe fn values<S: Isa, K: Kept>(isa: S, from: *const K, step: usize, count: usize, width: usize, to: *mut f32) {
    let padded = width.next_multiple_of(S::LANES);
    for index in 0..count {
        // SAFETY: the value is one of those that there are.
        unsafe {
            let (from, to) = (from.add(index * step), to.add(index * padded));
            let scale = isa.splat(K::scale(from, width));
            for at in (0..width).step_by(S::LANES) {
                isa.write(to.add(at), K::read_some(isa, from.add(at), width - at) * scale);
            }
        }
    }
}
