//! The console of a debugger or emulator: Arm semihosting (Arm document 100863).
#![allow(unsafe_code)] // Traps into the debugger.

use core::arch::asm;

const OPEN: u32 = 0x01;
const WRITE: u32 = 0x05;
const EXIT_EXTENDED: u32 = 0x20;
/// The reason of an exit that carries a status.
const APPLICATION_EXIT: u32 = 0x20026;
/// `fopen`'s mode `w`.
const MODE_WRITE: u32 = 4;

/// The debugger's console.
pub struct Console {
    handle: u32,
}

impl Console {
    /// Opens the console: the file that is called `:tt`.
    pub fn open() -> Self {
        let name = b":tt\0";
        Self { handle: call(OPEN, &[name.as_ptr() as u32, MODE_WRITE, 3]) }
    }

    /// Writes all of `text`.
    pub fn write(&self, text: &[u8]) {
        call(WRITE, &[self.handle, text.as_ptr() as u32, text.len() as u32]);
    }

    /// Ends the program with an exit status.
    pub fn close(self, status: u32) -> ! {
        loop {
            call(EXIT_EXTENDED, &[APPLICATION_EXIT, status]);
        }
    }
}

/// Asks the debugger to do something; a machine without one stops here.
fn call(operation: u32, block: &[u32]) -> u32 {
    let result;
    // SAFETY: the debugger reads the block and what it points to, and writes no memory.
    unsafe {
        asm!("bkpt 0xab", inlateout("r0") operation => result, in("r1") block.as_ptr(), options(nostack, readonly));
    }
    result
}
