//! int8 x blockwise int4 GEMM (XNNPACK's `qd8-f32-qb4w`).

pub mod gemm;
mod matrix;
#[cfg(target_arch = "x86_64")]
mod matrix_x86;
pub mod pack;
pub mod scale;
pub mod tile;
