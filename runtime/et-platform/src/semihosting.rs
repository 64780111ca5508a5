//! Semihosting: requests to a debugger or emulator by a breakpoint.
//!
//! Specifications: <https://github.com/ARM-software/abi-aa/blob/main/semihosting/semihosting.rst> for Arm, and
//! <https://github.com/riscv-non-isa/riscv-semihosting> for the breakpoint of RISC-V; the requests are the same.
#![allow(unsafe_code)] // The breakpoint instruction, with a pointer to its arguments.

use crate::{Console, Platform};

/// The debugger or emulator of this core. Without a debugger or emulator, the first request halts the core.
#[derive(Clone, Copy, Debug, Default)]
pub struct Semihosting;

/// Writes a text that ends with a zero byte.
const SYS_WRITE0: u32 = 0x04;
/// Reads centiseconds since the start.
const SYS_CLOCK: u32 = 0x10;
/// Ends the program with a status.
const SYS_EXIT_EXTENDED: u32 = 0x20;
/// The reason for a regular end.
const APPLICATION_EXIT: usize = 0x20026;
/// The bytes per write request.
const CHUNK: usize = 64;

impl Console for Semihosting {
    fn write_bytes(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(CHUNK - 1) {
            let mut buffer = [0; CHUNK];
            buffer.iter_mut().zip(part).for_each(|(slot, byte)| *slot = *byte);
            // SAFETY: the buffer ends with a zero byte, since a part is shorter.
            unsafe { request(SYS_WRITE0, buffer.as_ptr().addr()) };
        }
    }
}

impl Platform for Semihosting {
    fn microseconds(&mut self) -> u32 {
        // SAFETY: this request takes no argument.
        unsafe { request(SYS_CLOCK, 0) }.wrapping_mul(10_000)
    }

    fn exit(&mut self, status: u32) -> ! {
        let arguments = [APPLICATION_EXIT, status as usize];
        loop {
            // SAFETY: the request takes two words.
            unsafe { request(SYS_EXIT_EXTENDED, arguments.as_ptr().addr()) };
        }
    }
}

/// Sends a request to the host and returns the answer.
///
/// # Safety
/// `argument` is valid for the request: a number, or the address of memory that outlives the call.
unsafe fn request(operation: u32, argument: usize) -> u32 {
    let answer;
    #[cfg(target_arch = "arm")]
    // SAFETY: a host accesses only the argument and preserves all registers except r0. The block declares a read of
    // memory.
    unsafe {
        core::arch::asm!("bkpt 0xab", inlateout("r0") operation => answer, in("r1") argument, options(nostack));
    }
    #[cfg(target_arch = "riscv32")]
    // SAFETY: as above, with the answer in a0. The two shifts, which change nothing, tell a host that the breakpoint is a
    // request; all three instructions have 32 bits and lie in one page.
    unsafe {
        core::arch::asm!(
            ".option push",
            ".option norvc",
            ".balign 16",
            "slli x0, x0, 0x1f",
            "ebreak",
            "srai x0, x0, 7",
            ".option pop",
            inlateout("a0") operation => answer,
            in("a1") argument,
            options(nostack)
        );
    }
    answer
}
