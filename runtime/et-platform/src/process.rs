//! A process of an operating system.

use std::io::Write;
use std::time::Instant;

use crate::{Console, Platform};

/// Standard error, the system's monotonic clock and the process's exit status.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    start: Instant,
}

impl Default for Process {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Console for Process {
    fn write_bytes(&mut self, bytes: &[u8]) {
        // A closed standard error leaves nobody to tell.
        let _ = std::io::stderr().write_all(bytes);
    }
}

impl Platform for Process {
    fn microseconds(&mut self) -> u32 {
        self.start.elapsed().as_micros() as u32
    }

    fn exit(&mut self, status: u32) -> ! {
        std::process::exit(status.cast_signed())
    }
}
