//! A description of the GPU for people.

use ash::vk;

use crate::problem::{Outcome, report};
use crate::shared::Shared;

/// The GPU that delegates use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The name of the GPU.
    pub name: String,
    /// Discrete, integrated or virtual GPU, or CPU.
    pub kind: DeviceKind,
    /// The name of the driver.
    pub driver: String,
    /// The version of the driver in the driver's words.
    pub driver_version: String,
    /// The version of Vulkan: major, minor, patch.
    pub api_version: [u32; 3],
    /// The number of invocations of a subgroup.
    pub subgroup: u32,
    /// fp16 arithmetic, and fp16 in storage buffers.
    pub float16: bool,
    /// 64-bit floating point.
    pub float64: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// Reads outside of sampled images give 0 in all channels.
    pub zero_clamp: bool,
    /// The largest storage buffer, in bytes.
    pub buffer: u64,
    /// The largest width, height and number of layers of an image.
    pub image: [u32; 3],
    /// The largest heap of GPU memory, in bytes.
    pub heap: u64,
    /// Weights stay in the memory of the program file, without a copy.
    pub imports_weights: bool,
    /// The validation layer is on.
    pub validates: bool,
}

/// The kind of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU in the memory of the CPU.
    Integrated,
    /// A part of a GPU, in a virtual machine.
    Virtual,
    /// A driver that computes on the CPU.
    Cpu,
    /// Another device.
    Other,
}

/// Opens the GPU, if no delegate has, and describes it.
///
/// # Errors
/// The errors of loading a delegate; the words of a failure are in [`crate::problem()`].
pub fn device_summary() -> et_core::Result<Summary> {
    report(summary())
}

fn summary() -> Outcome<Summary> {
    let shared = Shared::get()?;
    let device = &shared.device;
    let (description, limits) = (&device.description, device.limits());
    let version = description.properties.api_version;
    let heaps = description.memory.memory_heaps_as_slice();
    let local = heaps.iter().filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    Ok(Summary {
        name: limits.name.clone(),
        kind: kind(description.properties.device_type),
        driver: description.driver.0.clone(),
        driver_version: description.driver.1.clone(),
        api_version: [vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version)],
        subgroup: limits.subgroup,
        float16: limits.float16,
        float64: limits.float64,
        int64: limits.int64,
        zero_clamp: limits.zero_clamp,
        buffer: limits.buffer,
        image: limits.image,
        heap: local.map(|heap| heap.size).max().unwrap_or_default(),
        imports_weights: description.is_unified() && device.import.is_some(),
        validates: device.validates(),
    })
}

const fn kind(kind: vk::PhysicalDeviceType) -> DeviceKind {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    }
}
