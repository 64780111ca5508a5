//! The GPU backend on the host: lowers partitions to compute kernels.
//!
//! Every value is an expression of its element's coordinates. Element-wise operators, views and reductions extend expressions;
//! a kernel is written where a value has to be stored, so operators fuse and views copy nothing. Kernels are WGSL, which naga
//! validates, and compiles to SPIR-V for Vulkan.

mod backend;
mod builder;
mod coordinate;
mod description;
mod emitter;
mod expr;
mod functions;
mod kernel;
mod lower;
mod module;
mod pack;
mod product;
mod profile;
mod sharing;
mod slices;
mod store;
mod tensor;
mod text;
mod types;
mod write;

pub use backend::{BACKEND, Gpu, program_text};
