//! Images: programs for WebGPU keep texels in buffers.

/// The type of images, without values.
pub enum Image {}
