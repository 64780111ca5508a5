//! int8 x blockwise int4 (XNNPACK's `qd8-f32-qb4w`) and int8 GEMM.

pub mod gemm;
pub mod pack;
