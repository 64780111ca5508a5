//! `f32` GEMM and convolution.

pub mod pack;
pub mod product;
pub mod tile;
pub mod transform;
pub mod winograd;
