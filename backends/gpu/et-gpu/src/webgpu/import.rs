//! Buffers in memory of the host, which the browser does not share.

use std::sync::Arc;

use et_core::Tensor;

use super::buffer::Buffer;
use super::device::Device;

/// A buffer over the memory of a tensor, which does not exist.
pub const fn import(_device: &Arc<Device>, _tensor: &Tensor<'_>, _size: u64, _writes: bool) -> Option<Buffer> {
    None
}
