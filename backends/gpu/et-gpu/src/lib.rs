//! The GPU delegate: executes a partition as compute shaders through Vulkan, through Metal on Apple's systems, or through WebGPU in a page.
//!
//! A [`Blob`] holds the kernels in SPIR-V, MSL or WGSL, made and validated at build time, the GPU objects, and the dispatches in order. A
//! [`Session`] is a loaded blob: pipelines, buffers and images, and a command buffer that each execution submits once. All
//! sessions of a process share one device, pipelines of equal kernels, equal weights, and states.

mod blob;
mod declared;
mod delegate;
#[cfg(not(target_family = "wasm"))]
mod described;
mod descriptor;
mod device_memory;
mod driver;
#[cfg(any(test, feature = "faults"))]
pub mod faults;
mod kernels;
mod limits;
mod loaded;
#[cfg(not(target_family = "wasm"))]
mod mapping;
#[cfg(target_vendor = "apple")]
mod metal;
mod msl;
mod objects;
#[cfg(not(target_family = "wasm"))]
mod pages;
mod placement;
mod plan;
mod pool;
mod private;
mod problem;
mod programs;
mod record;
mod resident;
mod schedule;
mod session;
mod shared;
mod spirv;
mod stamp;
mod state;
mod step;
#[cfg(not(target_family = "wasm"))]
mod summary;
#[cfg(not(any(target_family = "wasm", target_vendor = "apple")))]
mod vulkan;
#[cfg(target_family = "wasm")]
mod webgpu;
mod weights;
mod wgsl;

pub use blob::{
    Binding, Blob, Dispatch, Header, Kernel, Kind, Language, MAGIC, Needs, Object, Records, Role, VERSION, checksum,
};
pub use delegate::{delegate, reporting_delegate};
#[cfg(not(target_family = "wasm"))]
pub use described::device_summary;
pub use device_memory::{DeviceMemory, peak_memory};
pub use msl::{METAL_ENTRY, Metal, MetalKernel};
pub use placement::{Item, Place, Placement, place};
pub use problem::{Outcome, Problem, problem};
pub use programs::list;
pub use session::{Ended, Observe, Session};
#[cfg(any(test, feature = "faults"))]
pub use shared::{live_objects, live_states};
#[cfg(not(target_family = "wasm"))]
pub use summary::{DeviceKind, Summary};
#[cfg(not(any(target_family = "wasm", target_vendor = "apple")))]
pub use vulkan::validation::validation_messages;

/// The delegate id in program files.
pub const ID: &str = "EtbuildGpu";
