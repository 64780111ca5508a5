//! The kinds of static memory that the facts are written with.
#![allow(unsafe_code)] // `Sync` for memory that one thread uses.

use core::cell::Cell;

/// Bytes at an address that suits tensors.
#[repr(C, align(16))]
pub struct Aligned<const N: usize>(pub [u8; N]);

/// A planned arena.
#[repr(C, align(16))]
pub struct Arena<const N: usize>([Cell<u8>; N]);

// SAFETY: firmware has a single thread, and its only interrupt handlers are fault handlers, which never return.
unsafe impl<const N: usize> Sync for Arena<N> {}

impl<const N: usize> Arena<N> {
    /// Zeros.
    pub const fn new() -> Self {
        Self([const { Cell::new(0) }; N])
    }

    /// The bytes of the arena.
    pub const fn cells(&'static self) -> &'static [Cell<u8>] {
        &self.0
    }
}
