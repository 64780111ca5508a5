//! How far the stack was used.
#![allow(unsafe_code)] // Reads the stack by addresses of the linker script.

/// What the reset handler fills the stack with.
const MARK: u32 = 0xaaaa_aaaa;

unsafe extern "C" {
    static stack_limit: u32;
    static stack_top: u32;
}

/// The most bytes of the stack that were in use at once since the reset.
pub fn used() -> u32 {
    let (mut lowest, top) = (&raw const stack_limit, &raw const stack_top);
    // SAFETY: the words from the limit to the top are the stack, which is memory for as long as the program runs.
    while lowest < top && unsafe { lowest.read_volatile() } == MARK {
        lowest = lowest.wrapping_add(1);
    }
    (top.addr() - lowest.addr()) as u32
}
