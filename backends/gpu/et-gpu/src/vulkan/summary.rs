//! A description of a GPU with Vulkan.

use ash::vk;

use super::device::Device;
use crate::summary::{DeviceKind, Summary};

/// Describes a device.
pub fn summary(device: &Device) -> Summary {
    let (description, limits) = (&device.description, device.limits());
    let version = description.properties.api_version;
    let heaps = description.memory.memory_heaps_as_slice();
    let local = heaps.iter().filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    let parts = [vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version)];
    Summary {
        name: limits.name.clone(),
        kind: kind(description.properties.device_type),
        driver: description.driver.0.clone(),
        driver_version: description.driver.1.clone(),
        api: "Vulkan",
        api_version: parts.map(|part| part.to_string()).join("."),
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
    }
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
