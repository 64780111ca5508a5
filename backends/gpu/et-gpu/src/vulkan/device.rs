//! A logical device, which owns its instance.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use core::mem::ManuallyDrop;

use ash::vk;

use super::clock::Clock;
use super::failure::failed;
use super::features::{Description, Features};
use super::instance::Instance;
use super::pipeline_cache::CacheFile;
use super::queue::Queue;
use crate::limits::Limits;
use crate::problem::{Outcome, Problem};

/// A device with the compute queue and the pipeline cache.
pub struct Device {
    /// The functions of the device.
    pub raw: ash::Device,
    /// Names, limits and types of memory.
    pub description: Description,
    /// The functions that import host memory, if the device has them.
    pub import: Option<ash::ext::external_memory_host::Device>,
    /// The compute queue.
    pub queue: Queue,
    /// The family of the queue.
    pub family: u32,
    clock: Option<Clock>,
    /// Compiled pipelines of this and of earlier processes.
    pub cache: vk::PipelineCache,
    cache_file: Option<CacheFile>,
    // Destroyed after the device.
    instance: ManuallyDrop<Instance>,
}

impl Device {
    /// Opens the best GPU.
    pub fn open() -> Outcome<Self> {
        let instance = Instance::open()?;
        let physical = instance.best()?;
        let description = Description::of(&instance, physical);
        if !description.features.timeline {
            let name = &description.limits.name;
            return Err(Problem::unsupported(format!("the GPU ({name}) lacks timeline semaphores")));
        }
        let (family, properties) = compute_family(&instance, physical)?;
        let clock = Clock::of(&properties, &description.properties.limits);
        let raw = create(&instance, physical, &description, family)?;
        let queue = Queue::new(&raw, family, description.timeout()).inspect_err(|_| {
            // SAFETY: the new device has no objects.
            unsafe { raw.destroy_device(None) };
        })?;
        let import = description.import.map(|_| ash::ext::external_memory_host::Device::new(&instance.raw, &raw));
        let cache_file = CacheFile::of(&description.properties.pipeline_cache_uuid);
        let cache = load_cache(&raw, cache_file.as_ref());
        let instance = ManuallyDrop::new(instance);
        Ok(Self { raw, description, import, queue, family, clock, cache, cache_file, instance })
    }

    /// The features and limits.
    pub const fn limits(&self) -> &Limits {
        &self.description.limits
    }

    /// The clock of the compute queue, if the queue has timestamps.
    pub fn clock(&self) -> Option<Clock> {
        #[cfg(any(test, feature = "faults"))]
        if crate::faults::lacks_timestamps() {
            return None;
        }
        self.clock
    }

    /// Whether the validation layer is on.
    pub fn validates(&self) -> bool {
        self.instance.validates()
    }

    /// Whether the device has the memory of the CPU.
    pub fn is_unified(&self) -> bool {
        self.description.is_unified()
    }

    /// Whether the device was lost or hangs: everything fails from then on.
    pub fn is_lost(&self) -> bool {
        self.queue.is_lost()
    }

    /// Ends the creation of pipelines: stores the pipeline cache for later processes.
    pub fn finish_pipelines(&self) -> Outcome<()> {
        let Some(file) = &self.cache_file else { return Ok(()) };
        // SAFETY: the cache is of this device.
        if let Ok(bytes) = unsafe { self.raw.get_pipeline_cache_data(self.cache) } {
            file.store(&bytes);
        }
        Ok(())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.queue.hangs() {
            return;
        }
        // SAFETY: every object of the device owns a reference to the device, so that all are destroyed, and the owner of a
        // submission waits for its end.
        unsafe {
            self.queue.destroy(&self.raw);
            self.raw.destroy_pipeline_cache(self.cache, None);
            self.raw.destroy_device(None);
            ManuallyDrop::drop(&mut self.instance);
        }
    }
}

fn compute_family(instance: &Instance, physical: vk::PhysicalDevice) -> Outcome<(u32, vk::QueueFamilyProperties)> {
    // SAFETY: the device is of the instance.
    let families = unsafe { instance.raw.get_physical_device_queue_family_properties(physical) };
    let computes = |family: &(u32, vk::QueueFamilyProperties)| {
        family.1.queue_count > 0 && family.1.queue_flags.contains(vk::QueueFlags::COMPUTE)
    };
    (0..).zip(families).find(computes).ok_or_else(|| Problem::unsupported("the GPU has no queue for compute shaders"))
}

fn create(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    description: &Description,
    family: u32,
) -> Outcome<ash::Device> {
    let Features { core, float16, timeline, subgroup_size, full_subgroups, robust_images, zero_clamp } =
        description.features;
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let extensions: Vec<_> = description.extensions.iter().map(|name| name.as_ptr()).collect();
    let mut newer = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(timeline).shader_float16(float16);
    let mut storage = vk::PhysicalDeviceVulkan11Features::default()
        .storage_buffer16_bit_access(float16)
        .uniform_and_storage_buffer16_bit_access(float16);
    let mut subgroups = vk::PhysicalDeviceSubgroupSizeControlFeatures::default()
        .subgroup_size_control(subgroup_size)
        .compute_full_subgroups(full_subgroups);
    let mut images = vk::PhysicalDeviceImageRobustnessFeatures::default().robust_image_access(robust_images);
    let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_image_access2(zero_clamp);
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .enabled_features(&core)
        .push_next(&mut newer)
        .push_next(&mut storage);
    if subgroup_size {
        info = info.push_next(&mut subgroups);
    }
    if robust_images {
        info = info.push_next(&mut images);
    }
    if zero_clamp {
        info = info.push_next(&mut robustness);
    }
    // SAFETY: the device has the features and extensions, and all pointers outlive the call.
    unsafe { instance.raw.create_device(physical, &info, None) }.map_err(failed("open the GPU"))
}

/// A pipeline cache with the stored pipelines; a null cache, which is valid, where the driver has no memory.
fn load_cache(device: &ash::Device, file: Option<&CacheFile>) -> vk::PipelineCache {
    let bytes = file.and_then(CacheFile::load).unwrap_or_default();
    let create = |bytes: &[u8]| {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(bytes);
        // SAFETY: the bytes are from the same driver, as their name and their checksum say, or none.
        unsafe { device.create_pipeline_cache(&info, None) }
    };
    create(&bytes).or_else(|_| create(&[])).unwrap_or_default()
}
