//! A serial port.
#![allow(unsafe_code)] // Reads and writes device registers.

use super::registers::{DATA, FULL, SETUP, STATUS, Step};

/// A serial port that was set up.
pub struct Console;

impl Console {
    /// Sets the port up.
    pub fn open() -> Self {
        for step in &SETUP {
            follow(step);
        }
        Self
    }

    /// Sends all of `text`.
    pub fn write(&self, text: &[u8]) {
        for byte in text {
            while read(STATUS) & FULL != 0 {}
            write(DATA, u32::from(*byte));
        }
    }

    /// Says how the program ended, and waits for ever: there is nobody to return to.
    pub fn close(self, status: u32) -> ! {
        self.write(if status == 0 { b"{\"status\":\"ok\"}\n" } else { b"{\"status\":\"failed\"}\n" });
        loop {
            // SAFETY: waiting for an interrupt touches no memory.
            unsafe { core::arch::asm!("wfi", options(nomem, nostack)) };
        }
    }
}

fn follow(step: &Step) {
    match *step {
        Step::Write(address, value) => write(address, value),
        Step::Set(address, bits) => write(address, read(address) | bits),
        Step::Clear(address, bits) => write(address, read(address) & !bits),
        Step::Wait(address, bits) => while read(address) & bits != bits {},
    }
}

fn read(address: u32) -> u32 {
    // SAFETY: the target's facts say that a register of 32 bits is there.
    unsafe { (address as *const u32).read_volatile() }
}

fn write(address: u32, value: u32) {
    // SAFETY: the target's facts say that a register of 32 bits is there.
    unsafe { (address as *mut u32).write_volatile(value) }
}
