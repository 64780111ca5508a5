//! Images: programs for WebGPU keep texels in buffers.

/// An image, of which there are none.
pub enum Image {}
