//! The Vulkan library, an instance, and the choice among the GPUs.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use core::ffi::CStr;

use ash::vk;

use super::failure::failed;
use super::validation;
use crate::problem::{Outcome, Problem};

/// A Vulkan instance.
pub struct Instance {
    /// The functions of the instance.
    pub raw: ash::Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    // Unloads the library last.
    _entry: ash::Entry,
}

/// The newest version of Vulkan that this crate uses.
pub const NEWEST: u32 = vk::API_VERSION_1_3;

impl Instance {
    /// Loads the Vulkan library and creates an instance.
    pub fn open() -> Outcome<Self> {
        // SAFETY: the library is Vulkan's loader, whose initialization has no preconditions.
        let entry = unsafe { ash::Entry::load() }
            .map_err(|error| Problem::unsupported(format!("no Vulkan driver is installed: {error}")))?;
        check_version(&entry)?;
        let validates = validation::is_wanted() && has_layer(&entry);
        let raw = create(&entry, validates)?;
        let mut instance = Self { raw, messenger: None, _entry: entry };
        if validates {
            instance.listen()?;
        }
        Ok(instance)
    }

    /// Whether the validation layer is on.
    pub const fn validates(&self) -> bool {
        self.messenger.is_some()
    }

    fn listen(&mut self) -> Outcome<()> {
        let functions = ash::ext::debug_utils::Instance::new(&self._entry, &self.raw);
        // SAFETY: the instance has the extension of messengers.
        let messenger = unsafe { functions.create_debug_utils_messenger(&validation::messenger(), None) };
        self.messenger = Some((functions, messenger.map_err(failed("report validation messages"))?));
        Ok(())
    }

    /// The best GPU with Vulkan 1.2: discrete before integrated before virtual GPUs before CPUs.
    pub fn best(&self) -> Outcome<vk::PhysicalDevice> {
        // SAFETY: the instance is valid.
        let devices = unsafe { self.raw.enumerate_physical_devices() }.map_err(failed("list the GPUs"))?;
        let ranked = devices.iter().filter_map(|device| {
            // SAFETY: the device is of this instance.
            let properties = unsafe { self.raw.get_physical_device_properties(*device) };
            (properties.api_version >= vk::API_VERSION_1_2).then(|| (rank(properties.device_type), *device))
        });
        let best = ranked.min_by_key(|(rank, _)| *rank).map(|(_, device)| device);
        best.ok_or_else(|| match devices.len() {
            0 => Problem::unsupported("Vulkan finds no GPU and no driver for the CPU"),
            _ => Problem::unsupported("no GPU has a driver with Vulkan 1.2"),
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some((functions, messenger)) = &self.messenger {
            // SAFETY: the messenger is of this instance and is used no more.
            unsafe { functions.destroy_debug_utils_messenger(*messenger, None) };
        }
        // SAFETY: all devices of the instance are destroyed: a device owns its instance.
        unsafe { self.raw.destroy_instance(None) };
    }
}

const fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 4,
    }
}

fn check_version(entry: &ash::Entry) -> Outcome<()> {
    // SAFETY: the function has no preconditions.
    let version = unsafe { entry.try_enumerate_instance_version() }.map_err(failed("state its version"))?;
    match version {
        Some(version) if version >= vk::API_VERSION_1_1 => Ok(()),
        _ => Err(Problem::unsupported("the installed Vulkan loader is older than Vulkan 1.1")),
    }
}

fn has_layer(entry: &ash::Entry) -> bool {
    // SAFETY: the function has no preconditions.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(validation::LAYER))
}

fn has_extension(entry: &ash::Entry, name: &CStr) -> bool {
    // SAFETY: the function has no preconditions.
    let extensions = unsafe { entry.enumerate_instance_extension_properties(None) }.unwrap_or_default();
    extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}

fn create(entry: &ash::Entry, validates: bool) -> Outcome<ash::Instance> {
    let application = vk::ApplicationInfo::default().application_name(c"etbuild").api_version(NEWEST);
    let (mut layers, mut extensions, mut flags) = (Vec::new(), Vec::new(), vk::InstanceCreateFlags::empty());
    if validates {
        layers.push(validation::LAYER.as_ptr());
        extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        extensions.push(ash::ext::validation_features::NAME.as_ptr());
    }
    // Drivers on top of other interfaces, such as Metal, are listed on request only.
    if has_extension(entry, ash::khr::portability_enumeration::NAME) {
        extensions.push(ash::khr::portability_enumeration::NAME.as_ptr());
        flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
    }
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions)
        .flags(flags);
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(validation::FEATURES);
    let info = if validates { info.push_next(&mut features) } else { info };
    // SAFETY: the layers and extensions exist, and all pointers outlive the call.
    unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
            Problem::unsupported("no Vulkan driver is installed: the Vulkan loader finds none")
        }
        _ => failed("start Vulkan")(result),
    })
}
