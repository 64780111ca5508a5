//! The storage types of keys and values, and packing for the micro-kernels.
#![allow(unsafe_code)] // Reads through pointers.

use et_core::Half;
use et_simd::{Integer, Simd};

/// Elements of the largest transposed tile.
const SQUARE: usize = 16 * 16;

/// Stored keys or values.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// `f32`.
    Floats(&'a [f32]),
    /// fp16.
    Halves(&'a [Half]),
    /// int8; each row is followed by the four bytes of an `f32` scale, little-endian.
    Bytes(&'a [i8]),
}

/// Evaluates an expression for the elements, compiled for each storage type.
macro_rules! each_type {
    ($numbers:expr, |$elements:ident| $result:expr) => {
        match $numbers {
            Numbers::Floats($elements) => $result,
            Numbers::Halves($elements) => $result,
            Numbers::Bytes($elements) => $result,
        }
    };
}
pub(super) use each_type;

impl Numbers<'_> {
    /// The number of stored elements.
    pub const fn len(&self) -> usize {
        each_type!(self, |elements| elements.len())
    }

    /// Stored elements per row of `width` elements, scale included.
    pub const fn row(&self, width: usize) -> usize {
        width
            + match self {
                Self::Floats(_) => f32::BEHIND,
                Self::Halves(_) => Half::BEHIND,
                Self::Bytes(_) => i8::BEHIND,
            }
    }

    /// Whether the storage has no element.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A storage type that is loaded as `f32` vectors.
pub trait Kept: Copy {
    /// Stored elements behind each row (the scale).
    const BEHIND: usize = 0;

    /// The scale of a row.
    ///
    /// # Safety
    /// `row` is valid for reads of `width` elements and the scale.
    #[inline(always)]
    unsafe fn scale(_row: *const Self, _width: usize) -> f32 {
        1.0
    }

    /// Loads a vector.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Simd::LANES`] elements.
    unsafe fn read<S: Simd>(isa: S, from: *const Self) -> S::F32;

    /// Loads the first `count` lanes; the remaining lanes are 0.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` elements, fewer than [`Simd::LANES`].
    unsafe fn read_part<S: Simd>(isa: S, from: *const Self, count: usize) -> S::F32;

    /// Converts to `f32`, without the scale of the row.
    fn number(self) -> f32;

    /// Transposes a square tile: the scaled elements from `at` on of [`Simd::LANES`] rows of `width` elements, with a
    /// row stride of `step`.
    ///
    /// # Safety
    /// The rows are valid for reads, and `to` for writes of the tile.
    #[inline(always)]
    unsafe fn transpose<S: Simd>(isa: S, rows: *const Self, step: usize, (at, width): (usize, usize), to: *mut f32) {
        let mut square = [0.0; SQUARE];
        // SAFETY: the caller guarantees the rows and `to`; `square` has room for the lanes of any ISA.
        unsafe {
            for row in 0..S::LANES {
                let from = rows.add(row * step);
                let numbers = Self::read(isa, from.add(at)) * isa.splat(Self::scale(from, width));
                isa.write(square.as_mut_ptr().add(row * S::LANES), numbers);
            }
            isa.transpose(square.as_ptr(), S::LANES, to, S::LANES);
        }
    }

    /// Loads at most a vector. Lanes from `count` on are 0.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` elements, or of [`Simd::LANES`] if `count` is larger.
    #[inline(always)]
    unsafe fn read_some<S: Simd>(isa: S, from: *const Self, count: usize) -> S::F32 {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { if count >= S::LANES { Self::read(isa, from) } else { Self::read_part(isa, from, count) } }
    }
}

impl Kept for f32 {
    #[inline(always)]
    unsafe fn read<S: Simd>(isa: S, from: *const Self) -> S::F32 {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { isa.read(from) }
    }
    #[inline(always)]
    unsafe fn read_part<S: Simd>(isa: S, from: *const Self, count: usize) -> S::F32 {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { isa.read_part(from, count) }
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self
    }
    #[inline(always)]
    unsafe fn transpose<S: Simd>(isa: S, rows: *const Self, step: usize, (at, _): (usize, usize), to: *mut f32) {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { isa.transpose(rows.add(at), step, to, S::LANES) }
    }
}

impl Kept for Half {
    #[inline(always)]
    unsafe fn read<S: Simd>(isa: S, from: *const Self) -> S::F32 {
        // SAFETY: the caller guarantees the elements; `Half` has the layout of `u16`.
        unsafe { isa.read_halves(from.cast()) }
    }
    #[inline(always)]
    unsafe fn read_part<S: Simd>(isa: S, from: *const Self, count: usize) -> S::F32 {
        // SAFETY: the caller guarantees the elements; `Half` has the layout of `u16`.
        unsafe { isa.read_halves_part(from.cast(), count) }
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self.to_f32()
    }
}

impl Kept for i8 {
    const BEHIND: usize = size_of::<f32>();
    #[inline(always)]
    unsafe fn scale(row: *const Self, width: usize) -> f32 {
        // SAFETY: the caller guarantees the scale behind the row, read without alignment.
        f32::from_le_bytes(unsafe { row.add(width).cast::<[u8; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn read<S: Simd>(isa: S, from: *const Self) -> S::F32 {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { isa.read_i8(from) }.to_float()
    }
    #[inline(always)]
    unsafe fn read_part<S: Simd>(isa: S, from: *const Self, count: usize) -> S::F32 {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { isa.read_i8_part(from, count) }.to_float()
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self.into()
    }
}

/// Packs `count` keys into panels of [`Simd::LANES`] keys, element index by element index. Missing keys of the last
/// panel are 0.
///
/// # Safety
/// `from` has `count` keys with a stride of `step` elements, and `to` has room for the panels.
#[inline(always)]
pub unsafe fn pack_keys<S: Simd, K: Kept>(
    isa: S,
    from: *const K,
    step: usize,
    count: usize,
    width: usize,
    to: *mut f32,
) {
    for (panel, first) in (0..count).step_by(S::LANES).enumerate() {
        // SAFETY: the caller guarantees room for the panel, and the panel's keys are below `count`.
        unsafe {
            let (from, to) = (from.add(first * step), to.add(panel * width * S::LANES));
            key_panel(isa, from, step, S::LANES.min(count - first), width, to);
        }
    }
}

/// # Safety
/// As for [`pack_keys`], for a single panel.
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
/// `from` has `count` values with a stride of `step` elements, the first `width` of a stored `row` of elements each, and `to` has room for the
/// padded values.
#[inline(always)]
pub unsafe fn pack_values<S: Simd, K: Kept>(
    isa: S,
    from: *const K,
    step: usize,
    count: usize,
    width: usize,
    row: usize,
    to: *mut f32,
) {
    let padded = width.next_multiple_of(S::LANES);
    for index in 0..count {
        // SAFETY: the index is below `count`, and the caller guarantees `count` values and room.
        unsafe {
            let (from, to) = (from.add(index * step), to.add(index * padded));
            let scale = isa.splat(K::scale(from, row));
            for at in (0..width).step_by(S::LANES) {
                isa.write(to.add(at), K::read_some(isa, from.add(at), width - at) * scale);
            }
        }
    }
}
