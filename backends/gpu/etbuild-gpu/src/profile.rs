//! The facts of a GPU that kernels rely on.

use et_core::ScalarType;
use et_gpu::Language;
use etbuild_backend::GpuFacts;

use crate::tensor::{Storage, TexelLimits};
use crate::types::Type;

/// A class of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// Whether kernels run in a page, by WebGPU.
    pub web: bool,
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

/// The storage buffers of a kernel that every browser allows.
const WEB_BUFFERS: usize = 8;

/// The invocations that keep a compute unit busy while some of them wait for memory.
pub const BUSY: usize = 1024;

impl Profile {
    /// The language of kernels.
    pub const fn language(&self) -> Language {
        if self.web { Language::Wgsl } else { Language::Spirv }
    }

    /// The type that elements are computed in; `None` for complex numbers. In a page, integers of 64 bits are read as the nearest ones of
    /// 32 bits, which is enough for positions.
    pub const fn type_of(&self, scalar_type: ScalarType) -> Option<Type> {
        match scalar_type {
            ScalarType::Long if self.web => Some(Type::Int),
            _ => Type::of(scalar_type),
        }
    }

    /// The most tensors that a kernel reads, beside the one that the kernel writes.
    pub const fn most_reads(&self) -> usize {
        if self.web { WEB_BUFFERS - 1 } else { usize::MAX }
    }

    /// The bytes of workgroup memory that a kernel may have.
    pub const fn workgroup_memory(&self) -> usize {
        if self.web { 16 << 10 } else { 32 << 10 }
    }

    /// Whether the driver computes on the CPU.
    pub const fn on_cpu(&self) -> bool {
        self.units == 0
    }

    /// The profile of a target's GPU.
    pub fn of(gpu: GpuFacts) -> Self {
        let storage = if gpu.images { Storage::Image } else { Storage::Buffer };
        let texels = TexelLimits { storage, side: gpu.max_image as usize, layers: gpu.max_layers as usize };
        Self {
            web: gpu.web,
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
        Self { web: false, texels, clamps_to_zero: true, int64: true, float64: true, subgroup: 8, units: 0, buffer }
    }
}
