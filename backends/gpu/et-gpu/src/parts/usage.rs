//! The uses of memory.

/// Who accesses memory, which is the same memory for both.
#[derive(Clone, Copy)]
pub enum Use {
    /// Kernels.
    Device,
    /// The host and kernels.
    Shared,
}
