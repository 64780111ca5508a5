//! Steps: dispatches with checked numbers.

/// An execution of a kernel.
#[derive(Debug)]
pub struct Step {
    /// The number of the kernel in the blob, or of the alternative that the device executes.
    pub kernel: usize,
    /// The module of the kernel.
    pub module: usize,
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// The object of each binding, and whether the kernel writes the object.
    pub bindings: Vec<(usize, bool)>,
}
