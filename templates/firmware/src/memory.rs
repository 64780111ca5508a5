//! The memory of the firmware's model.
#![allow(unsafe_code)] // A static that is lent once.

use core::cell::UnsafeCell;

use crate::model;

/// Memory for one model.
#[repr(C, align(16))]
struct Room(UnsafeCell<[u8; model::SIZE]>);

// SAFETY: the memory is lent once, to the only thread.
unsafe impl Sync for Room {}

#[unsafe(link_section = ".arena")]
static ROOM: Room = Room(UnsafeCell::new([0; model::SIZE]));

/// The address of the memory, which the reset handler has filled with zeros.
pub const fn room() -> *mut u8 {
    ROOM.0.get().cast()
}
