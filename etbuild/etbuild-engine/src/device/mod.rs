//! Devices that a command reaches over a cable or a network: files are brought by digest, and the binary runs there.
//!
//! A way to a device is a program that executes a shell script there and hands on standard input, output and exit status: `ssh` and
//! `adb shell` do. All else is the same script for all ways. A board is flashed, and reports on a serial line or through a debug probe.

mod board;
mod failure;
mod files;
mod run;
mod script;
mod shell;
mod way;

pub use board::{Firmware, drive, install};
pub use files::DeviceFile;
pub use run::{Command, DeviceFolder};
pub use shell::Shell;
pub use way::{Device, Line};
