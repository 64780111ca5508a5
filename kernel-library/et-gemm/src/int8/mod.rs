//! int8 GEMM with int32 accumulators.

pub mod compute;
pub mod gemm;
pub mod pack;
