//! The formats and the usage of all images.

use ash::vk;

use crate::blob::Kind;

/// Four fp32 channels.
pub const FLOAT32: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

/// Four fp16 channels.
pub const FLOAT16: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// Kernels read and write images; copies fill images of weights.
pub const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw()
        | vk::ImageUsageFlags::STORAGE.as_raw()
        | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);

/// The format of an image.
pub const fn format(kind: Kind) -> vk::Format {
    match kind {
        Kind::Image16 | Kind::Array16 => FLOAT16,
        _ => FLOAT32,
    }
}
