//! The browser's WebGPU, through functions of the page. Code outside `calls` and `memory` is safe.

mod calls;
pub mod commands;
pub mod descriptors;
pub mod device;
pub mod import;
pub mod memory;
pub mod pipeline;
