//! Images: programs keep texels in buffers.

/// The type of images, without values.
pub enum Image {}
