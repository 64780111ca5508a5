//! SIMD work on vectors of `f32`, compiled for several instruction sets and dispatched to the best instruction set of
//! the processor.
//!
//! Results do not depend on the instruction set: lanes are independent, and products are rounded before the addition
//! (no fused multiply-add). Bare-metal builds link no SIMD code, since code size matters most on these targets.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
mod plain;
mod vector;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm32;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::run;
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
pub use plain::run;
pub use vector::{Vector, Work};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub use wasm32::run;
#[cfg(target_arch = "x86_64")]
pub use x86_64::run;

/// Whether the target has an operating system, so that speed counts more than a few KiB of code and stack.
pub const HOSTED: bool = cfg!(not(target_os = "none"));
