//! Helium.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

use core::arch::asm;

/// Writes the int8 weights of a panel, whose halves have 16 bytes: 8 instructions for 32 weights.
pub fn unpack_blocks(bytes: &[u8], half: usize, panel: &mut [i8]) {
    let count = (bytes.len() / 16).min(panel.len() / 32);
    if count == 0 || half != 16 {
        return;
    }
    // SAFETY: there are `count` vectors of bytes, and twice as many of weights.
    unsafe {
        asm!(
            "2:",
            "vldrb.u8 q0, [{from}], #16",
            "vshl.i8 q1, q0, #4",
            "vshr.s8 q0, q0, #4",
            "vshr.s8 q1, q1, #4",
            "vstrb.8 q1, [{to}], #16",
            "vstrb.8 q0, [{to}], #16",
            "subs {count}, {count}, #1",
            "bne 2b",
            from = inout(reg) bytes.as_ptr() => _, to = inout(reg) panel.as_mut_ptr() => _, count = inout(reg) count => _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _,
        );
    }
}
