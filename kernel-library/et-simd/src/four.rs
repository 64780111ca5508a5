//! Parts of vectors of four lanes, for ISAs whose loads and stores have no mask.
#![allow(unsafe_code)] // Reads and writes through pointers.

/// The first `count` of four numbers; the others are 0.
///
/// # Safety
/// `from` is valid for reads of the smaller of `count` and four numbers.
#[inline(always)]
pub unsafe fn first_of_four(from: *const f32, count: usize) -> [f32; 4] {
    let mut lanes = [0.0; 4];
    for (lane, number) in lanes.iter_mut().enumerate().take(count) {
        // SAFETY: the caller guarantees `count` numbers.
        *number = unsafe { *from.add(lane) };
    }
    lanes
}

/// Writes the first `count` of four numbers.
///
/// # Safety
/// `to` is valid for writes of the smaller of `count` and four numbers.
#[inline(always)]
pub unsafe fn write_first(lanes: [f32; 4], to: *mut f32, count: usize) {
    for (lane, number) in lanes.iter().enumerate().take(count) {
        // SAFETY: the caller guarantees room for `count` numbers.
        unsafe { *to.add(lane) = *number };
    }
}
