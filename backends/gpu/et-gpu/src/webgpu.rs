//! The browser's WebGPU, through functions of the page. Code outside `calls` and `memory` is safe.

pub mod buffer;
mod calls;
pub mod commands;
pub mod descriptors;
pub mod device;
pub mod image;
pub mod import;
pub mod memory;
pub mod pipeline;
pub mod resource;
pub mod staging;
pub mod timestamps;
