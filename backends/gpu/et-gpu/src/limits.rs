//! What a device has and allows.

use crate::blob::Language;
use crate::problem::{Outcome, Problem};

/// The features and limits of a device that matter to blobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The name of the GPU.
    pub name: String,
    /// Whether the driver computes on the CPU.
    pub on_cpu: bool,
    /// The language of kernels that the driver takes.
    pub language: Language,
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floating point.
    pub float64: bool,
    /// fp16 arithmetic, and fp16 in storage buffers.
    pub float16: bool,
    /// Reads outside of sampled images give 0 in all channels.
    pub zero_clamp: bool,
    /// The number of invocations of a subgroup, unless a pipeline requires another.
    pub subgroup: u32,
    /// The subgroup sizes that a pipeline may require; empty (1, 0) for none.
    pub subgroups: (u32, u32),
    /// The most subgroups of a workgroup.
    pub workgroup_subgroups: u32,
    /// Pipelines may require full subgroups.
    pub full_subgroups: bool,
    /// The subgroup operations of compute shaders, a bit each, in the order of `VkSubgroupFeatureFlagBits`.
    pub subgroup_operations: u32,
    /// The newest version of SPIR-V, as in the second word of a module.
    pub spirv: u32,
    /// The most workgroups of a dispatch in x, y and z.
    pub workgroups: [u32; 3],
    /// The largest workgroup in x, y and z.
    pub workgroup: [u32; 3],
    /// The most invocations of a workgroup.
    pub invocations: u32,
    /// The most bytes of shared memory of a workgroup.
    pub shared: u64,
    /// The largest storage buffer, in bytes.
    pub buffer: u64,
    /// The largest width, height and number of layers of an image.
    pub image: [u32; 3],
    /// The most bytes of an image.
    pub image_bytes: u64,
    /// The most storage buffers of a pipeline.
    pub storage_buffers: u32,
    /// The most sampled images of a pipeline.
    pub sampled_images: u32,
    /// The most storage images of a pipeline.
    pub storage_images: u32,
    /// The most bindings of a pipeline.
    pub bindings: u32,
    /// The most bytes of a memory allocation.
    pub allocation: u64,
}

impl Limits {
    /// Checks that a pipeline may require subgroups of `subgroup` invocations; 0 stands for any number.
    pub fn check_subgroup(&self, subgroup: u32) -> Outcome<()> {
        if subgroup == 0 || self.requires_subgroup(subgroup) {
            return Ok(());
        }
        Err(Problem::unsupported(format!("the GPU ({}) lacks subgroups of {subgroup} invocations", self.name)))
    }

    /// Checks that a workgroup has `shared` bytes of shared memory.
    pub fn check_shared(&self, shared: u64) -> Outcome<()> {
        if shared <= self.shared {
            return Ok(());
        }
        let sentence = format!("the GPU ({}) has less shared memory than the kernel's {shared}", self.name);
        Err(Problem::unsupported(sentence))
    }

    /// Checks the size of a workgroup in subgroups of `subgroup` invocations.
    pub fn check_workgroup(&self, size: [u32; 3], subgroup: u32) -> Outcome<()> {
        let invocations = size.iter().fold(1_u32, |product, size| product.saturating_mul(*size));
        let fits = size.iter().zip(self.workgroup).all(|(size, most)| *size <= most);
        let few = subgroup == 0 || invocations <= subgroup.saturating_mul(self.workgroup_subgroups);
        if fits && few && invocations <= self.invocations {
            return Ok(());
        }
        let sentence = format!("the GPU ({}) has no workgroups of {invocations} invocations", self.name);
        Err(Problem::unsupported(sentence))
    }

    /// Whether a pipeline may require subgroups of `size` invocations.
    pub fn requires_subgroup(&self, size: u32) -> bool {
        !lacks_subgroups() && size.is_power_of_two() && self.subgroups.0 <= size && size <= self.subgroups.1
    }

    /// Whether compute shaders have the subgroup operation of a bit.
    pub fn has_subgroup_operation(&self, bit: u32) -> bool {
        !lacks_subgroups() && self.subgroup_operations >> bit & 1 == 1
    }
}

#[cfg(any(test, feature = "faults"))]
fn lacks_subgroups() -> bool {
    crate::faults::lacks_subgroups()
}

#[cfg(not(any(test, feature = "faults")))]
const fn lacks_subgroups() -> bool {
    false
}
