//! int8 x blockwise int4 GEMM (XNNPACK's `qd8-f32-qb4w`).

pub mod gemm;
pub mod pack;
