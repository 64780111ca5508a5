//! The kinds of static memory that the facts are written with.
#![allow(unsafe_code)] // `Sync` for memory that one thread uses.

use core::cell::Cell;

/// Bytes at an address that suits tensors.
#[repr(C, align(16))]
pub struct Aligned<const N: usize>(pub [u8; N]);

/// A planned arena.
#[repr(C, align(16))]
pub struct Arena<const N: usize>([Cell<u8>; N]);

// SAFETY: there is one thread, and the only interrupt handlers are those of faults, which never return.
unsafe impl<const N: usize> Sync for Arena<N> {}

impl<const N: usize> Arena<N> {
    /// Zeros.
    pub const fn new() -> Self {
        Self([const { Cell::new(0) }; N])
    }

    /// Its bytes.
    pub const fn cells(&'static self) -> &'static [Cell<u8>] {
        &self.0
    }
}
