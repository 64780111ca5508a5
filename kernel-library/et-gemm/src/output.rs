//! The output of a GEMM, a rectangle of rows and columns, and the residual that an epilogue adds.
#![allow(unsafe_code, reason = "blocks of a rectangle interleave in memory, so that they cannot be slices")]

use core::marker::PhantomData;
use core::ops::Range;

use et_core::{Error, Result};

/// A residual tensor in the layout of the output.
#[derive(Clone, Copy, Debug)]
pub struct Residual<'a, T> {
    /// The elements.
    pub elements: &'a [T],
    /// Row stride in elements.
    pub stride: usize,
    /// Whether the residual is added after the activation.
    pub after: bool,
}

impl<T> Residual<'_, T> {
    /// The address of an element, readable if [`Self::check`] accepted the element.
    pub(crate) const fn at(&self, row: usize, column: usize) -> *const T {
        self.elements.as_ptr().wrapping_add(row * self.stride + column)
    }

    /// Fails unless the residual has the elements of a rectangle with at least a row.
    pub(crate) fn check(&self, rows: &Range<usize>, columns: &Range<usize>) -> Result<()> {
        let last = rows.end.checked_sub(1).and_then(|row| row.checked_mul(self.stride));
        let needed = last.and_then(|start| start.checked_add(columns.end));
        if needed.is_some_and(|needed| needed <= self.elements.len()) { Ok(()) } else { Err(Error::InvalidArgument) }
    }
}

/// A rectangle of an output, with exclusive write access.
#[derive(Debug)]
pub struct Output<'a, T> {
    start: *mut T,
    stride: usize,
    rows: usize,
    columns: usize,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: an `Output` has exclusive access to the elements of the rectangle, like `&mut [T]`.
unsafe impl<T: Send> Send for Output<'_, T> {}

impl<'a, T: Copy> Output<'a, T> {
    /// `rows` rows of `columns` elements with a row stride of `stride` elements. Fails if the memory is too short.
    pub fn new(memory: &'a mut [T], rows: usize, columns: usize, stride: usize) -> Result<Self> {
        let last = rows.saturating_sub(1).checked_mul(stride).and_then(|start| start.checked_add(columns));
        let apart = rows <= 1 || stride >= columns;
        if !apart || (rows > 0 && last.is_none_or(|needed| needed > memory.len())) {
            return Err(Error::InvalidArgument);
        }
        Ok(Self { start: memory.as_mut_ptr(), stride, rows, columns, memory: PhantomData })
    }

    /// Like [`Self::new`] over memory of which other parts may be written concurrently.
    ///
    /// # Safety
    ///
    /// For `'a`, no other code reads or writes the elements that blocks compute into this output, and `start` is valid
    /// for `rows` rows of `columns` elements with a row stride of `stride`.
    pub const unsafe fn from_raw(start: *mut T, rows: usize, columns: usize, stride: usize) -> Self {
        Self { start, stride, rows, columns, memory: PhantomData }
    }

    /// Row stride in elements.
    pub(crate) const fn stride(&self) -> usize {
        self.stride
    }

    /// Fails unless the rectangle is part of this output.
    pub(crate) fn check(&self, rows: &Range<usize>, columns: &Range<usize>) -> Result<()> {
        let within = |inner: &Range<usize>, size: usize| inner.is_empty() || inner.end <= size;
        let fits = within(rows, self.rows) && within(columns, self.columns);
        if fits { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    /// The address of an element, writable if [`Self::check`] accepted the element.
    pub(crate) fn at(&mut self, row: usize, column: usize) -> *mut T {
        self.start.wrapping_add(row * self.stride + column)
    }
}
