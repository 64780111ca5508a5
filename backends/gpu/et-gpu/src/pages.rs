//! The pages around a tensor, which a device may use without a copy.

use et_core::{Access, Tensor};

/// Whole pages around a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// The first byte of the tensor within the pages.
    pub offset: u64,
    /// The bytes of the pages.
    pub size: u64,
}

/// The pages of `page` bytes around a tensor for a buffer of `size` bytes. `None` for a tensor without memory; where kernels write,
/// also for a constant and for another size.
pub fn whole_pages(tensor: &Tensor<'_>, size: u64, writes: bool, page: u64) -> Option<Pages> {
    if writes && (tensor.access() == Access::Constant || tensor.nbytes() as u64 != size) || tensor.data().is_null() {
        return None;
    }
    let offset = tensor.data().addr() as u64 % page;
    Some(Pages { offset, size: (offset + tensor.nbytes() as u64).next_multiple_of(page) })
}
