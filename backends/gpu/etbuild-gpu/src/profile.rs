//! The facts of a GPU that kernels rely on.

use etbuild_backend::GpuFacts;

use crate::tensor::{Storage, TexelLimits};

/// A class of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// Where texels are kept.
    pub texels: TexelLimits,
    /// Whether texels outside an image are read as 0.
    pub clamps_to_zero: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floating point.
    pub float64: bool,
    /// The invocations of a subgroup that kernels may exchange values in; 0 for none.
    pub subgroup: u32,
    /// The compute units, whose workgroups share what they load in workgroup memory; 0 for a driver that computes on the CPU.
    pub units: usize,
    /// The bytes of the largest buffer.
    pub buffer: usize,
}

/// The invocations that keep a compute unit busy while some of them wait for memory.
pub const BUSY: usize = 1024;

impl Profile {
    /// Whether the driver computes on the CPU.
    pub const fn on_cpu(&self) -> bool {
        self.units == 0
    }

    /// The profile of a target's GPU.
    pub fn of(gpu: GpuFacts) -> Self {
        let storage = if gpu.images { Storage::Image } else { Storage::Buffer };
        let texels = TexelLimits { storage, side: gpu.max_image as usize, layers: gpu.max_layers as usize };
        Self {
            texels,
            clamps_to_zero: gpu.zero_clamp,
            int64: gpu.int64,
            float64: gpu.float64,
            subgroup: gpu.subgroup,
            units: gpu.units as usize,
            buffer: (gpu.max_buffer as usize) << 20,
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        let texels = TexelLimits { storage: Storage::Image, side: 16384, layers: 2048 };
        let buffer = 128 << 20;
        Self { texels, clamps_to_zero: true, int64: true, float64: true, subgroup: 8, units: 0, buffer }
    }
}
