//! The target facts that a backend may read.

/// The target facts that a backend may read.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetFacts {
    /// The first part of the target triple, without a version: `x86_64`, `aarch64`, `thumb`.
    pub architecture: String,
    /// The instruction sets among which the binary selects at run time, such as `avx2` or `i8mm`, sorted and unique. A
    /// device may lack any instruction set of the list.
    pub features: Vec<String>,
    /// Whether the target has an operating system.
    pub hosted: bool,
    /// The GPU, if the target states one.
    pub gpu: Option<GpuFacts>,
    /// The NPU, if the target states one.
    pub npu: Option<NpuFacts>,
}

/// A target's NPU.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NpuFacts {
    /// The vendor's name of the chip, such as `SM8750`.
    pub soc: String,
}

/// What kernels may rely on of a target's GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuFacts {
    /// Whether texels of four channels are in images, and not in buffers, where both objects can hold them.
    pub images: bool,
    /// The greatest width and height of an image, in texels.
    pub max_image: u32,
    /// The most layers of an array of images.
    pub max_layers: u32,
    /// The size of subgroups; 0 for kernels without subgroups.
    pub subgroup: u32,
    /// Whether reads outside an image give 0.
    pub zero_clamp: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floating point.
    pub float64: bool,
}

impl TargetFacts {
    /// Whether the binary may use this instruction set on a device that supports it.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|have| have == feature)
    }
}
