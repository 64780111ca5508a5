//! A board that writes to a serial port.
#![allow(unsafe_code)] // Reads and writes device registers.

use et_platform::{Console, Platform};

use super::registers::{DATA, FULL, READY, SETUP, STATUS, Step};

/// A serial port that was set up.
pub struct Uart;

impl Default for Uart {
    fn default() -> Self {
        SETUP.iter().for_each(follow);
        Self
    }
}

impl Console for Uart {
    fn write_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            while read(STATUS) & (FULL | READY) != READY {}
            write(DATA, u32::from(*byte));
        }
    }
}

impl Platform for Uart {
    fn microseconds(&mut self) -> u32 {
        0
    }

    /// Writes the status and waits forever: bare metal has no caller to return to.
    fn exit(&mut self, status: u32) -> ! {
        self.write("{\"exit\":");
        self.write_number(status);
        self.write_line("}");
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
