//! Failures of Vulkan calls.

use ash::vk;
use et_core::Error;

use crate::problem::Problem;

/// The failure of the Vulkan call that should have done `what`.
pub fn failed(what: &str) -> impl FnOnce(vk::Result) -> Problem {
    move |result| match result {
        vk::Result::ERROR_DEVICE_LOST => {
            Problem::new(Error::DelegateInvalidHandle, "the GPU was lost: its driver reset it")
        }
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_TOO_MANY_OBJECTS
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY
        | vk::Result::ERROR_FRAGMENTED_POOL => {
            Problem::new(Error::DelegateMemoryAllocationFailed, format!("the GPU driver has no memory to {what}"))
        }
        vk::Result::ERROR_INCOMPATIBLE_DRIVER
        | vk::Result::ERROR_INITIALIZATION_FAILED
        | vk::Result::ERROR_FEATURE_NOT_PRESENT
        | vk::Result::ERROR_EXTENSION_NOT_PRESENT => {
            Problem::unsupported(format!("the GPU driver failed to {what}: {result}"))
        }
        _ => Problem::new(Error::Internal, format!("the GPU driver failed to {what}: {result}")),
    }
}
