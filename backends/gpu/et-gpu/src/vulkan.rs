//! Vulkan handles that destroy themselves. Code outside these files is safe.

pub mod buffer;
pub mod clock;
pub mod commands;
pub mod descriptors;
pub mod device;
pub mod features;
pub mod format;
pub mod image;
pub mod import;
pub mod instance;
pub mod memory;
pub mod pipeline;
pub mod queue;
pub mod resource;
pub mod timestamps;
pub mod validation;
