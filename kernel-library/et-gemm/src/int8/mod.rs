//! int8 GEMM with int32 accumulators.

pub mod dot;
#[cfg(target_arch = "aarch64")]
pub mod dot_arm;
#[cfg(target_arch = "x86_64")]
pub mod dot_x86;
pub mod finish;
pub mod gather;
pub mod gemm;
pub mod pack;
pub mod quantize;
pub mod strip;
pub mod tile;
