//! Images.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::failure::failed;
use super::format::{USAGE, format};
use super::memory::Memory;
use crate::blob::Kind;
use crate::problem::Outcome;

/// The whole of an image with `layers` layers.
pub const fn whole(layers: u32) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: layers,
    }
}

/// A 2-D image or 2-D array image with its view. The image owns its memory.
pub struct Image {
    device: Arc<Device>,
    raw: vk::Image,
    view: vk::ImageView,
    kind: Kind,
    extent: [u32; 3],
    memory: Option<Arc<Memory>>,
}

impl Image {
    /// An image without memory.
    pub fn create(device: &Arc<Device>, kind: Kind, extent: [u32; 3]) -> Outcome<Self> {
        let [width, height, layers] = extent;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format(kind))
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(USAGE);
        // SAFETY: the extent is within the limits of the device.
        let raw = unsafe { device.raw.create_image(&info, None) }.map_err(failed("create an image"))?;
        Ok(Self { device: Arc::clone(device), raw, view: vk::ImageView::null(), kind, extent, memory: None })
    }

    /// The size and alignment of the memory, and the memory types.
    pub fn requirements(&self) -> vk::MemoryRequirements {
        // SAFETY: the image is of the device.
        unsafe { self.device.raw.get_image_memory_requirements(self.raw) }
    }

    /// Gives the image memory and a view, once.
    pub fn bind(&mut self, memory: &Arc<Memory>, offset: u64) -> Outcome<()> {
        // SAFETY: the caller placed the image by its requirements.
        unsafe { self.device.raw.bind_image_memory(self.raw, memory.raw(), offset) }
            .map_err(failed("place an image"))?;
        self.memory = Some(Arc::clone(memory));
        let kind = match self.kind {
            Kind::Array32 | Kind::Array16 => vk::ImageViewType::TYPE_2D_ARRAY,
            _ => vk::ImageViewType::TYPE_2D,
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(self.raw)
            .view_type(kind)
            .format(format(self.kind))
            .subresource_range(whole(self.extent[2]));
        // SAFETY: the image has memory and the format.
        self.view = unsafe { self.device.raw.create_image_view(&info, None) }.map_err(failed("view an image"))?;
        Ok(())
    }

    /// The handle.
    pub const fn raw(&self) -> vk::Image {
        self.raw
    }

    /// The view of the whole image.
    pub const fn view(&self) -> vk::ImageView {
        self.view
    }

    /// Width, height and layers.
    pub const fn extent(&self) -> [u32; 3] {
        self.extent
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if !self.device.queue.hangs() {
            // SAFETY: the owner waits for the end of all executions that use the image; a null view is allowed.
            unsafe {
                self.device.raw.destroy_image_view(self.view, None);
                self.device.raw.destroy_image(self.raw, None);
            }
        }
    }
}
