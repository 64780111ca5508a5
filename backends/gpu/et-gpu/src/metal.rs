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
