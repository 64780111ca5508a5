//! The platform of a binary: console, clock and exit.
//!
//! A platform is a type that implements [`Console`] and [`Platform`]. The binary names the type, so no hooks are
//! registered. [`Silent`] is for machines without a console; the features `std` and `semihosting` add a platform each.
//! A board's serial port implements [`Console`] in the board's code.
//! ```
//! use et_platform::Console;
//!
//! struct Serial(Vec<u8>);
//!
//! impl Console for Serial {
//!     fn write_bytes(&mut self, bytes: &[u8]) {
//!         self.0.extend_from_slice(bytes);
//!     }
//! }
//!
//! let mut serial = Serial(Vec::new());
//! serial.write("cases ");
//! serial.write_number(360);
//! assert_eq!(serial.0, b"cases 360");
//! ```
#![cfg_attr(not(feature = "std"), no_std)]

mod console;
#[cfg(feature = "std")]
mod process;
#[cfg(all(feature = "semihosting", any(target_arch = "arm", target_arch = "riscv32")))]
mod semihosting;
mod silent;

pub use console::Console;
#[cfg(feature = "std")]
pub use process::Process;
#[cfg(all(feature = "semihosting", any(target_arch = "arm", target_arch = "riscv32")))]
pub use semihosting::Semihosting;
pub use silent::Silent;

/// A machine to run on.
pub trait Platform: Console {
    /// Microseconds since some moment; 0 on a machine without clock. Wraps.
    fn microseconds(&mut self) -> u32;

    /// Ends the program; 0 means success.
    fn exit(&mut self, status: u32) -> !;
}
