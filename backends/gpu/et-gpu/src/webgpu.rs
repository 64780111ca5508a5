//! The browser's WebGPU, through functions of the page. Code outside `calls` and `memory` is safe.

mod calls;
pub mod commands;
pub mod descriptors;
pub mod device;
pub mod import;
pub mod memory;
pub mod pipeline;

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
