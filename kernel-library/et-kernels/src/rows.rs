//! Input and output rows of a kernel, in place or in separate slices.
#![allow(unsafe_code)] // Rows that are read and written at once cannot be two slices.

use core::marker::PhantomData;

use et_core::Result;
use et_simd::{Float, Isa};

use crate::check::ensure;

/// Pairs of input and output rows of equal length, in place or separate.
pub struct Rows<'a> {
    from: *const f32,
    to: *mut f32,
    /// The number of rows.
    pub count: usize,
    /// Elements per row, at least 1.
    pub columns: usize,
    lifetime: PhantomData<&'a mut [f32]>,
}

impl<'a> Rows<'a> {
    /// Rows of two separate slices.
    pub fn apart(input: &'a [f32], output: &'a mut [f32], columns: usize) -> Result<Self> {
        ensure(columns > 0 && input.len() == output.len() && input.len().is_multiple_of(columns))?;
        let (from, to) = (input.as_ptr(), output.as_mut_ptr());
        Ok(Self { from, to, count: input.len() / columns, columns, lifetime: PhantomData })
    }

    /// Rows in place.
    pub fn in_place(rows: &'a mut [f32], columns: usize) -> Result<Self> {
        ensure(columns > 0 && rows.len().is_multiple_of(columns))?;
        let to = rows.as_mut_ptr();
        Ok(Self { from: to, to, count: rows.len() / columns, columns, lifetime: PhantomData })
    }

    /// The row at `index`, clamped to the last of [`Self::count`] rows.
    #[inline(always)]
    pub fn row(&self, index: usize) -> Row<'_> {
        let offset = index.min(self.count.saturating_sub(1)) * self.columns;
        // SAFETY: the row is within both slices.
        let (from, to) = unsafe { (self.from.add(offset), self.to.add(offset)) };
        Row { from, to, columns: self.columns, lifetime: PhantomData }
    }
}

/// An input row and an output row.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    from: *const f32,
    to: *mut f32,
    columns: usize,
    lifetime: PhantomData<&'a Rows<'a>>,
}

impl Row<'_> {
    /// Loads input elements from column `at` on. Lanes past the end of the row are `filler`.
    #[inline(always)]
    pub fn read<S: Isa>(&self, isa: S, at: usize, filler: S::F32) -> S::F32 {
        // SAFETY: `read` stays within the `columns` elements of the row.
        unsafe { read(isa, self.from, self.columns, at, filler) }
    }

    /// Loads a full vector from column `at` on.
    ///
    /// # Safety
    /// The row has at least `at + LANES` columns.
    #[inline(always)]
    pub unsafe fn read_whole<S: Isa>(&self, isa: S, at: usize) -> S::F32 {
        // SAFETY: the caller guarantees `at + LANES` columns.
        unsafe { isa.read(self.from.add(at)) }
    }

    /// Loads output elements from column `at` on. Lanes past the end of the row are 0.
    #[inline(always)]
    pub fn read_back<S: Isa>(&self, isa: S, at: usize) -> S::F32 {
        // SAFETY: `read` stays within the `columns` elements of the row.
        unsafe { read(isa, self.to, self.columns, at, isa.splat(0.0)) }
    }

    /// Stores output elements from column `at` on. Lanes past the end of the row are dropped.
    #[inline(always)]
    pub fn write<S: Isa>(&self, isa: S, at: usize, numbers: S::F32) {
        let rest = self.columns.saturating_sub(at);
        // SAFETY: writes at most `rest` elements, which the row has.
        unsafe {
            match rest {
                0 => {}
                rest if rest >= S::LANES => isa.write(self.to.add(at), numbers),
                rest => isa.write_part(self.to.add(at), rest, numbers),
            }
        }
    }
}

/// # Safety
/// `from` is valid for reads of `length` elements.
#[inline(always)]
unsafe fn read<S: Isa>(isa: S, from: *const f32, length: usize, at: usize, filler: S::F32) -> S::F32 {
    let rest = length.saturating_sub(at);
    // SAFETY: reads at most `rest` elements, of the `length` that the caller guarantees.
    unsafe {
        match rest {
            0 => filler,
            rest if rest >= S::LANES => isa.read(from.add(at)),
            rest => isa.read_part(from.add(at), rest).select(first(isa, rest), filler),
        }
    }
}

/// The mask of the first `count` lanes.
#[inline(always)]
pub fn first<S: Isa>(isa: S, count: usize) -> S::Mask {
    const LANES: [f32; 16] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];
    isa.load(&LANES, 0).is_less(isa.splat(count as f32))
}
