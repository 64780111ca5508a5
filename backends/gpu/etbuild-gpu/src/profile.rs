//! The facts of a GPU that kernels rely on.

use et_core::ScalarType;
use et_gpu::Language;
use etbuild_backend::{GpuApi, GpuFacts};

use crate::tensor::{Storage, TexelLimits};
use crate::types::Type;

/// A class of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The interface to the GPU.
    pub api: GpuApi,
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

/// The buffers of a kernel that every GPU of Apple allows.
const METAL_BUFFERS: usize = 31;

/// The invocations that keep a compute unit busy while some of them wait for memory.
pub const BUSY: usize = 1024;

impl Profile {
    /// The language of kernels.
    pub const fn language(&self) -> Language {
        match self.api {
            GpuApi::Vulkan => Language::Spirv,
            GpuApi::WebGpu => Language::Wgsl,
            GpuApi::Metal { .. } => Language::Msl,
        }
    }

    /// The type that elements are computed in; `None` for complex numbers. In a page, integers of 64 bits are read as the nearest ones of
    /// 32 bits, which is enough for positions.
    pub const fn type_of(&self, scalar_type: ScalarType) -> Option<Type> {
        match scalar_type {
            ScalarType::Long if self.is_web() => Some(Type::Int),
            _ => Type::of(scalar_type),
        }
    }

    /// The most tensors that a kernel reads, beside the one that the kernel writes.
    pub const fn most_reads(&self) -> usize {
        match self.api {
            GpuApi::Vulkan => usize::MAX,
            GpuApi::WebGpu => WEB_BUFFERS - 1,
            GpuApi::Metal { .. } => METAL_BUFFERS - 1,
        }
    }

    /// The bytes of workgroup memory that a kernel may have.
    pub const fn workgroup_memory(&self) -> usize {
        match self.api {
            GpuApi::Vulkan => 32 << 10,
            // What every browser has; what every GPU of Apple has, and the larger ones for several workgroups at a time.
            GpuApi::WebGpu | GpuApi::Metal { .. } => 16 << 10,
        }
    }

    /// Whether kernels run in a page.
    pub const fn is_web(&self) -> bool {
        matches!(self.api, GpuApi::WebGpu)
    }

    /// Whether a kernel may bind the tensor that the kernel writes for reading too. WebGPU forbids that, and Metal's compiler takes
    /// buffers for distinct memory.
    pub const fn binds_twice(&self) -> bool {
        matches!(self.api, GpuApi::Vulkan)
    }

    /// Whether kernels state the lengths of tensors: Metal's kernels would get the lengths of arrays without one in a further buffer.
    pub const fn states_lengths(&self) -> bool {
        matches!(self.api, GpuApi::Metal { .. })
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
            api: gpu.api,
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
        Self {
            api: GpuApi::Vulkan,
            texels,
            clamps_to_zero: true,
            int64: true,
            float64: true,
            subgroup: 8,
            units: 0,
            buffer,
        }
    }
}
