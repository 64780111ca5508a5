//! Work on vectors of `f32`, compiled for several instruction sets and run with the best that the processor has.
//!
//! Results do not depend on the choice: a lane is a number of its own, and products are rounded before they are added. Bare
//! metal links nothing of this: there, small counts.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod plain;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::run;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use plain::run;
pub use vector::{Vector, Work};
#[cfg(target_arch = "x86_64")]
pub use x86_64::run;

/// Whether this is compiled for a process, where speed counts more than a few KiB of instructions and of stack.
pub const HOSTED: bool = cfg!(not(target_os = "none"));
