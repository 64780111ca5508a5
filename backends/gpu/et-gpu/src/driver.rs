//! The driver of the platform: Vulkan; Metal on Apple's systems; WebGPU where the process is a WebAssembly module.
//!
//! All have the same modules with the same names. A `Device` has [`Limits`](crate::limits::Limits), makes a `Pipeline` of a
//! `Shader`, a `Resource` without memory, and `Memory` in which [`place`](crate::placement::place) finds the resources' places;
//! `Commands` are recorded once and run often. All else is this crate's own, and the same for all.

#[cfg(target_vendor = "apple")]
pub use crate::metal::{
    buffer, commands, descriptors, device, image, import, memory, pipeline, resource, staging, summary, timestamps,
};
#[cfg(not(any(target_family = "wasm", target_vendor = "apple")))]
pub use crate::vulkan::{
    buffer, commands, descriptors, device, image, import, memory, pipeline, resource, staging, summary, timestamps,
};
#[cfg(target_family = "wasm")]
pub use crate::webgpu::{
    buffer, commands, descriptors, device, image, import, memory, pipeline, resource, staging, timestamps,
};
