//! What a backend may read besides the program.

/// The target facts that a backend may read, and what the recipe says about graphs of static sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetFacts {
    /// The first part of the target triple, without a version: `x86_64`, `aarch64`, `thumb`.
    pub architecture: String,
    /// The instruction sets among which the binary selects at run time, such as `avx2` or `i8mm`, sorted and unique. A
    /// device may lack any instruction set of the list.
    pub features: Vec<String>,
    /// Whether the target has an operating system.
    pub hosted: bool,
    /// The classes of GPUs that the target states, the most likely first.
    pub gpus: Vec<GpuFacts>,
    /// The NPU, if the target states one.
    pub npu: Option<NpuFacts>,
    /// The lengths of a KV cache below its capacity for which a backend that computes static sizes makes graphs of their own, in ascending
    /// order. A backend that reads a KV cache up to the position of the call needs none.
    pub contexts: Vec<u32>,
    /// The most bytes of weights that a program of the NPU may have, where the recipe says so.
    pub npu_context: Option<u64>,
    /// The memory of a board, where a partition needs more: a backend that can compute with less memory and more work does so.
    pub memory: Option<MemoryFacts>,
}

/// The memory of a board for the tensors of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryFacts {
    /// The bytes of the largest bank, in which the scratch of a partition must fit.
    pub largest: u64,
    /// The bytes of all banks, in which the scratch and the arguments of a call must fit.
    pub total: u64,
}

/// A target's NPU, by vendor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NpuFacts {
    /// The NPU of a Qualcomm chip: the vendor's name of the chip, such as `SM8750`.
    Qualcomm {
        /// The name.
        soc: String,
    },
    /// An Arm Ethos-U beside a microcontroller.
    EthosU(EthosU),
}

/// An Arm Ethos-U NPU.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EthosU {
    /// The kind and the multiplications per cycle, such as `u55-128`.
    pub accelerator: String,
    /// The memories and the clock, by a name of Arm's compiler.
    pub system_config: String,
    /// Which memory has weights and feature maps, by a name of Arm's compiler.
    pub memory_mode: String,
    /// The address of the NPU's registers.
    pub registers: u32,
}

/// What kernels may rely on of a target's GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuFacts {
    /// The interface to the GPU.
    pub api: GpuApi,
    /// Whether texels of four channels are in images, and not in buffers, where both objects can hold them.
    pub images: bool,
    /// The greatest width and height of an image, in texels.
    pub max_image: u32,
    /// The most layers of an array of images.
    pub max_layers: u32,
    /// The largest buffer, in MiB.
    pub max_buffer: u32,
    /// The size of subgroups; 0 for kernels without subgroups.
    pub subgroup: u32,
    /// The compute units, whose workgroups share what they load in workgroup memory; 0 for a driver that computes on the CPU.
    pub units: u32,
    /// Whether reads outside an image give 0.
    pub zero_clamp: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floating point.
    pub float64: bool,
}

/// The interface to a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GpuApi {
    /// Vulkan.
    #[default]
    Vulkan,
    /// WebGPU, in a page.
    WebGpu,
    /// Metal.
    Metal {
        /// Major and minor version of the shading language.
        msl: [u8; 2],
    },
}

impl TargetFacts {
    /// Whether the binary may use this instruction set on a device that supports it.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|have| have == feature)
    }
}
