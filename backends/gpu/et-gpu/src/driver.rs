//! The driver of the platform: Vulkan, or WebGPU where the process is a WebAssembly module.
//!
//! Both have the same modules with the same names. A `Device` has [`Limits`](crate::limits::Limits), makes a `Pipeline` of a
//! `Shader`, a `Resource` without memory, and `Memory` in which [`place`](crate::placement::place) finds the resources' places;
//! `Commands` are recorded once and run often. All else is this crate's own, and the same for both.

#[cfg(not(target_family = "wasm"))]
pub use crate::vulkan::{
    buffer, commands, descriptors, device, image, import, memory, pipeline, resource, staging, timestamps,
};
#[cfg(target_family = "wasm")]
pub use crate::webgpu::{
    buffer, commands, descriptors, device, image, import, memory, pipeline, resource, staging, timestamps,
};
