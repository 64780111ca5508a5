//! Lowers partitions to delegate blobs for SIMD processors: views become strides, element-wise operators fuse into the epilogue
//! of their producer, and weights are packed for the GEMM micro-kernels.

mod backend;
mod builder;
mod call;
mod capability;
mod constant;
mod constants;
mod features;
mod lower;
mod memory;
mod pack;
mod passes;
mod problem;
mod shared;
mod tensor;
mod uses;
mod write;

pub use backend::{BACKEND, Cpu};
pub use et_gemm::Isa;
pub use problem::Problem;
