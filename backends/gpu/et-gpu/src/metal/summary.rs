//! A description of a GPU with Metal.

use objc2_metal::{MTLDevice, MTLGPUFamily};

use super::device::Device;
use crate::summary::{DeviceKind, Summary};

/// Describes a device.
pub fn summary(device: &Device) -> Summary {
    let limits = device.limits();
    let version = if device.raw.supportsFamily(MTLGPUFamily::Metal3) { "3" } else { "2" };
    Summary {
        name: limits.name.clone(),
        kind: DeviceKind::Integrated,
        driver: "Apple".to_owned(),
        driver_version: String::new(),
        api: "Metal",
        api_version: version.to_owned(),
        subgroup: limits.subgroup,
        float16: limits.float16,
        float64: limits.float64,
        int64: limits.int64,
        zero_clamp: limits.zero_clamp,
        buffer: limits.buffer,
        image: limits.image,
        heap: limits.allocation,
        imports_weights: true,
        validates: false,
    }
}
