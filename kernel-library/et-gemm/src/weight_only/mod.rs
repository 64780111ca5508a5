//! Weight-only GEMM: `f32` activations with int8 or blockwise int4 weights.

pub mod gemm;
pub mod unpack;
