//! Apple's Metal. Objects of Metal count their references, so that none is destroyed in use.
//!
//! The memory of the GPU is that of the CPU on all systems of Apple that etbuild builds for.

pub mod commands;
pub mod descriptors;
pub mod device;
mod failure;
pub mod import;
pub mod memory;
pub mod pipeline;
pub mod summary;

// What Metal and WebGPU have in common: programs have no images, a buffer is a part of memory, and the host copies to memory itself.
#[path = "parts/buffer.rs"]
pub mod buffer;
#[path = "parts/image.rs"]
pub mod image;
#[path = "parts/resource.rs"]
pub mod resource;
#[path = "parts/staging.rs"]
pub mod staging;
#[path = "parts/timestamps.rs"]
pub mod timestamps;
#[path = "parts/usage.rs"]
pub mod usage;
