//! The messages of Vulkan's validation layer.
#![allow(unsafe_code, reason = "the driver calls a function of this file with pointers")]

use core::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

use ash::vk;

/// The name of the layer.
pub const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Checks beyond the usual ones: missing barriers.
pub const FEATURES: &[vk::ValidationFeatureEnableEXT] = &[vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];

/// More messages than this are dropped.
const MOST: usize = 1000;

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The messages of the validation layer in this process so far; at most 1000. The layer is on if the environment variable
/// `ETBUILD_GPU_VALIDATION` is `1` and the layer is installed.
pub fn validation_messages() -> Vec<String> {
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether the environment asks for the layer.
pub fn is_wanted() -> bool {
    std::env::var_os("ETBUILD_GPU_VALIDATION").is_some_and(|value| value == "1")
}

/// What the layer reports, and where.
pub fn messenger() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(receive))
}

unsafe extern "system" fn receive(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes a valid structure or null.
    let message = unsafe { data.as_ref() }.map(|data| data.p_message).filter(|message| !message.is_null());
    if let Some(message) = message {
        // SAFETY: a message is text with a terminating zero.
        let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        let mut messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() < MOST {
            messages.push(text);
        }
    }
    vk::FALSE
}
