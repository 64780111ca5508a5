//! `f32` GEMM and convolution.

pub mod direct;
pub mod pack;
pub mod product;
pub mod winograd;
