//! Descriptor sets: the objects that dispatches access.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::failure::failed;
use super::pipeline::Pipeline;
use super::resource::Resource;
use crate::descriptor::Descriptor;
use crate::problem::Outcome;

/// The bindings of a dispatch.
pub struct Bindings<'r> {
    /// The pipeline.
    pub pipeline: &'r Pipeline,
    /// The objects, in the order of the bindings.
    pub objects: Vec<(Descriptor, &'r Resource)>,
}

/// The descriptor sets of dispatches, in a pool of their own.
pub struct Descriptors {
    device: Arc<Device>,
    pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
}

impl Descriptors {
    /// A descriptor set for each of the dispatches.
    pub fn create(device: &Arc<Device>, dispatches: &[Bindings<'_>]) -> Outcome<Self> {
        let kinds =
            [vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::STORAGE_IMAGE];
        let all = || dispatches.iter().flat_map(|dispatch| &dispatch.objects);
        let count = |kind| all().filter(|(descriptor, _)| descriptor.kind() == kind).count() as u32;
        let sizes = kinds.map(|kind| vk::DescriptorPoolSize { ty: kind, descriptor_count: count(kind) });
        let sizes: Vec<_> = sizes.into_iter().filter(|size| size.descriptor_count > 0).collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(dispatches.len() as u32).pool_sizes(&sizes);
        // SAFETY: there are dispatches, and each has bindings.
        let pool = unsafe { device.raw.create_descriptor_pool(&info, None) }.map_err(failed("bind tensors"))?;
        let mut descriptors = Self { device: Arc::clone(device), pool, sets: Vec::new() };
        let layouts: Vec<_> = dispatches.iter().map(|dispatch| dispatch.pipeline.set()).collect();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has a set for each dispatch.
        descriptors.sets = unsafe { device.raw.allocate_descriptor_sets(&info) }.map_err(failed("bind tensors"))?;
        for (set, dispatch) in descriptors.sets.iter().zip(dispatches) {
            write(device, *set, dispatch);
        }
        Ok(descriptors)
    }

    /// The descriptor set of a dispatch.
    pub fn set(&self, dispatch: usize) -> Option<vk::DescriptorSet> {
        self.sets.get(dispatch).copied()
    }
}

fn write(device: &Device, set: vk::DescriptorSet, dispatch: &Bindings<'_>) {
    for (number, (descriptor, resource)) in (0..).zip(&dispatch.objects) {
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(number)
            .descriptor_type(descriptor.kind())
            .descriptor_count(1);
        let (mut buffers, mut images) = Default::default();
        let write = match resource {
            Resource::Buffer(buffer) => write.buffer_info(one(&mut buffers, buffer_info(buffer.raw()))),
            Resource::Image(image) => write.image_info(one(&mut images, image_info(image.view()))),
        };
        // SAFETY: the set is new, and its layout has the binding with this type.
        unsafe { device.raw.update_descriptor_sets(&[write], &[]) };
    }
}

fn one<T>(place: &mut [T; 1], value: T) -> &[T; 1] {
    *place = [value];
    place
}

const fn buffer_info(buffer: vk::Buffer) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }
}

const fn image_info(image_view: vk::ImageView) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo { sampler: vk::Sampler::null(), image_view, image_layout: vk::ImageLayout::GENERAL }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        if !self.device.queue.hangs() {
            // SAFETY: the owner waits for the end of all executions that use the sets.
            unsafe { self.device.raw.destroy_descriptor_pool(self.pool, None) };
        }
    }
}
