//! Vulkan handles that destroy themselves. Code outside these files is safe.

pub mod buffer;
pub mod clock;
pub mod commands;
pub mod descriptors;
pub mod device;
pub mod failure;
pub mod features;
pub mod format;
pub mod image;
pub mod import;
pub mod instance;
pub mod memory;
pub mod pipeline;
mod pipeline_cache;
pub mod queue;
pub mod resource;
pub mod staging;
pub mod summary;
pub mod timestamps;
pub mod validation;
