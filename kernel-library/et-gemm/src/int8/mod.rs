//! int8 GEMM with int32 accumulators.

pub mod dot;
pub mod finish;
pub mod gather;
pub mod gemm;
pub mod pack;
pub mod quantize;
pub mod strip;
pub mod tile;
