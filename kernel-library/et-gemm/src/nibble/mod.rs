//! int8 x blockwise int4 GEMM (XNNPACK's `qd8-f32-qb4w`).

mod matrix;
#[cfg(target_arch = "x86_64")]
mod matrix_x86;
pub mod pack;
pub mod product;
pub mod rows;
pub mod scale;
pub mod tile;
