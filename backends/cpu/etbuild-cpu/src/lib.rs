//! Lowers partitions for processors with vector instructions: whole graphs, in which views are arithmetic, functions are parts
//! of what makes their operands, and weights lie as kernels read them.

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
