//! The features and limits of a physical device.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use core::ffi::CStr;
use core::time::Duration;

use ash::vk;

use super::format::{FLOAT16, FLOAT32, USAGE};
use super::instance::{Instance, NEWEST};
use crate::limits::Limits;

/// The features that the device is created with.
#[derive(Clone, Copy, Default)]
pub struct Features {
    /// Of Vulkan 1.0.
    pub core: vk::PhysicalDeviceFeatures,
    /// fp16 arithmetic, and fp16 in storage and uniform buffers.
    pub float16: bool,
    /// Timeline semaphores.
    pub timeline: bool,
    /// Pipelines may require a subgroup size.
    pub subgroup_size: bool,
    /// Pipelines may require full subgroups.
    pub full_subgroups: bool,
    /// Reads outside of images give 0 in red, green and blue, and 0 or 1 in alpha.
    pub robust_images: bool,
    /// Reads outside of images of four channels give 0.
    pub zero_clamp: bool,
}

/// What a physical device says about itself.
pub struct Description {
    /// The limits and features.
    pub limits: Limits,
    /// The features to enable.
    pub features: Features,
    /// The properties of Vulkan 1.0.
    pub properties: vk::PhysicalDeviceProperties,
    /// The name and version of the driver.
    pub driver: (String, String),
    /// The types of memory.
    pub memory: vk::PhysicalDeviceMemoryProperties,
    /// The alignment of host memory that the device can import.
    pub import: Option<u64>,
    /// Extensions to enable.
    pub extensions: Vec<&'static CStr>,
}

impl Description {
    /// Asks a physical device.
    pub fn of(instance: &Instance, device: vk::PhysicalDevice) -> Self {
        // SAFETY: the device is of the instance.
        let available = unsafe { instance.raw.enumerate_device_extension_properties(device) }.unwrap_or_default();
        let has = |name: &CStr| available.iter().any(|found| found.extension_name_as_c_str() == Ok(name));
        // SAFETY: as before.
        let properties = unsafe { instance.raw.get_physical_device_properties(device) };
        let is_newest = properties.api_version >= NEWEST;
        let known = Known {
            sizes: is_newest || has(ash::ext::subgroup_size_control::NAME),
            images: is_newest || has(ash::ext::image_robustness::NAME),
            robustness: has(ash::ext::robustness2::NAME),
        };
        let features = features(instance, device, properties.device_type, &known);
        let optional = [
            (ash::ext::subgroup_size_control::NAME, !is_newest && features.subgroup_size),
            (ash::ext::image_robustness::NAME, !is_newest && features.robust_images),
            (ash::ext::robustness2::NAME, features.zero_clamp),
            (ash::ext::external_memory_host::NAME, true),
            (ash::khr::portability_subset::NAME, true),
        ];
        let wanted = optional.into_iter().filter(|(name, wanted)| *wanted && has(name));
        let (limits, driver, import) = limits(instance, device, &features, has(ash::ext::external_memory_host::NAME));
        // SAFETY: as before.
        let memory = unsafe { instance.raw.get_physical_device_memory_properties(device) };
        let extensions = wanted.map(|(name, _)| name).collect();
        Self { limits, features, properties, driver, memory, import, extensions }
    }

    /// The time after which an execution is an error. A driver that computes on the CPU is slow.
    pub const fn timeout(&self) -> Duration {
        match self.properties.device_type {
            vk::PhysicalDeviceType::CPU => Duration::from_secs(600),
            _ => Duration::from_secs(60),
        }
    }

    /// Whether the device has the memory of the CPU.
    pub fn is_unified(&self) -> bool {
        #[cfg(any(test, feature = "faults"))]
        if crate::faults::is_discrete() {
            return false;
        }
        shares_memory(self.properties.device_type)
    }
}

/// The structures of features that a device knows.
struct Known {
    sizes: bool,
    images: bool,
    robustness: bool,
}

fn features(instance: &Instance, device: vk::PhysicalDevice, kind: vk::PhysicalDeviceType, known: &Known) -> Features {
    let mut images = vk::PhysicalDeviceImageRobustnessFeatures::default();
    let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
    let mut subgroups = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
    let mut newer = vk::PhysicalDeviceVulkan12Features::default();
    let mut storage = vk::PhysicalDeviceVulkan11Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut newer).push_next(&mut storage);
    if known.sizes {
        all = all.push_next(&mut subgroups);
    }
    if known.images {
        all = all.push_next(&mut images);
    }
    if known.robustness {
        all = all.push_next(&mut robustness);
    }
    // SAFETY: the chain has structures that a device of Vulkan 1.2 knows.
    unsafe { instance.raw.get_physical_device_features2(device, &mut all) };
    let core = vk::PhysicalDeviceFeatures::default()
        .shader_int64(all.features.shader_int64 == vk::TRUE)
        .shader_float64(all.features.shader_float64 == vk::TRUE)
        .robust_buffer_access(shares_memory(kind) && all.features.robust_buffer_access == vk::TRUE);
    Features {
        core,
        float16: [
            newer.shader_float16,
            storage.storage_buffer16_bit_access,
            storage.uniform_and_storage_buffer16_bit_access,
        ]
        .iter()
        .all(|feature| *feature == vk::TRUE),
        timeline: newer.timeline_semaphore == vk::TRUE,
        subgroup_size: subgroups.subgroup_size_control == vk::TRUE,
        full_subgroups: subgroups.compute_full_subgroups == vk::TRUE,
        robust_images: images.robust_image_access == vk::TRUE,
        zero_clamp: robustness.robust_image_access2 == vk::TRUE,
    }
}

/// Whether a device of a kind has the memory of the CPU, so that kernels change states in the memory of the process: accesses
/// outside of buffers are then kept within them.
fn shares_memory(kind: vk::PhysicalDeviceType) -> bool {
    matches!(kind, vk::PhysicalDeviceType::CPU | vk::PhysicalDeviceType::INTEGRATED_GPU)
}

type Details = (Limits, (String, String), Option<u64>);

fn limits(instance: &Instance, device: vk::PhysicalDevice, features: &Features, imports: bool) -> Details {
    let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut maintenance = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default();
    all = all.push_next(&mut subgroup).push_next(&mut driver).push_next(&mut maintenance);
    if imports {
        all = all.push_next(&mut host);
    }
    if features.subgroup_size {
        all = all.push_next(&mut sizes);
    }
    // SAFETY: the chain has structures of Vulkan 1.2 and of extensions of the device.
    unsafe { instance.raw.get_physical_device_properties2(device, &mut all) };
    let properties = all.properties;
    let mut limits = of_properties(&properties);
    limits.allocation = maintenance.max_memory_allocation_size;
    (limits.int64, limits.float64) = (features.core.shader_int64 == vk::TRUE, features.core.shader_float64 == vk::TRUE);
    (limits.float16, limits.zero_clamp) = (features.float16, features.zero_clamp);
    limits.subgroup = subgroup.subgroup_size;
    if subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
        limits.subgroup_operations = subgroup.supported_operations.as_raw();
    }
    if features.subgroup_size && sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE) {
        limits.subgroups = (sizes.min_subgroup_size, sizes.max_subgroup_size);
        limits.workgroup_subgroups = sizes.max_compute_workgroup_subgroups;
        limits.full_subgroups = features.full_subgroups;
    }
    limits.restrict_images(instance, device);
    let text = |text: Result<&CStr, _>| text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let driver = (text(driver.driver_name_as_c_str()), text(driver.driver_info_as_c_str()));
    (limits, driver, imports.then_some(host.min_imported_host_pointer_alignment).filter(|size| size.is_power_of_two()))
}

fn of_properties(properties: &vk::PhysicalDeviceProperties) -> Limits {
    let limits = &properties.limits;
    Limits {
        name: properties.device_name_as_c_str().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        on_cpu: properties.device_type == vk::PhysicalDeviceType::CPU,
        subgroups: (1, 0),
        spirv: if properties.api_version >= vk::API_VERSION_1_3 { 0x0001_0600 } else { 0x0001_0500 },
        workgroups: limits.max_compute_work_group_count,
        workgroup: limits.max_compute_work_group_size,
        invocations: limits.max_compute_work_group_invocations,
        shared: u64::from(limits.max_compute_shared_memory_size),
        buffer: u64::from(limits.max_storage_buffer_range),
        image: [limits.max_image_dimension2_d, limits.max_image_dimension2_d, limits.max_image_array_layers],
        image_bytes: u64::MAX,
        storage_buffers: limits.max_per_stage_descriptor_storage_buffers,
        sampled_images: limits.max_per_stage_descriptor_sampled_images,
        storage_images: limits.max_per_stage_descriptor_storage_images,
        bindings: limits.max_per_stage_resources,
        ..Limits::default()
    }
}

impl Limits {
    /// Restricts images to what both formats allow.
    fn restrict_images(&mut self, instance: &Instance, device: vk::PhysicalDevice) {
        for format in [FLOAT32, FLOAT16] {
            // SAFETY: the device is of the instance.
            let found = unsafe {
                instance.raw.get_physical_device_image_format_properties(
                    device,
                    format,
                    vk::ImageType::TYPE_2D,
                    vk::ImageTiling::OPTIMAL,
                    USAGE,
                    vk::ImageCreateFlags::empty(),
                )
            };
            let found = found.unwrap_or_default();
            let most = [found.max_extent.width, found.max_extent.height, found.max_array_layers];
            self.image.iter_mut().zip(most).for_each(|(limit, most)| *limit = (*limit).min(most));
            self.image_bytes = self.image_bytes.min(found.max_resource_size);
        }
    }
}
