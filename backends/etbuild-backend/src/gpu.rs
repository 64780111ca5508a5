//! What a blob does on a GPU, for reports: the stored tensors, the dispatches that read and write them, and the scratch memory.

use serde::{Deserialize, Serialize};

/// The dispatches of a partition with their tensors, on a class of GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuProgram {
    /// Whether the class is a driver that computes on the CPU.
    pub on_cpu: bool,
    /// The number of distinct kernels.
    pub kernels: usize,
    /// The dispatches in order.
    pub dispatches: Vec<GpuDispatch>,
    /// The stored tensors, in the order of their first use.
    pub tensors: Vec<GpuTensor>,
    /// The memory of the tensors with the role [`GpuRole::Scratch`].
    pub scratch: GpuScratch,
}

/// An execution of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuDispatch {
    /// The value that the kernel computes.
    pub value: String,
    /// The number of the kernel in the blob.
    pub kernel: usize,
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// The tensors that the kernel reads, by their position in [`GpuProgram::tensors`].
    pub reads: Vec<usize>,
    /// The tensor that the kernel writes.
    pub writes: usize,
    /// Bytes of the tensors that the kernel reads, each once and as a whole.
    pub bytes_read: u64,
    /// Bytes of the tensor that the kernel writes, as a whole.
    pub bytes_written: u64,
}

/// A tensor in a GPU object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuTensor {
    /// The name: the role with a number, or `%` with a number for scratch.
    pub name: String,
    /// The value of the partition that the tensor holds, or a part of.
    pub value: String,
    /// The use of the tensor.
    pub role: GpuRole,
    /// The name of the elements' type.
    pub scalar_type: String,
    /// The shape.
    pub sizes: Vec<usize>,
    /// The kind of the object.
    pub storage: GpuStorage,
    /// Width, height and layers in texels; 1 for each of a buffer of elements.
    pub extent: [usize; 3],
    /// The size of the object.
    pub bytes: u64,
    /// The first and the last dispatch that accesses the tensor.
    pub life: [u32; 2],
}

/// The use of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuRole {
    /// An input of the call.
    Input,
    /// An input that the call changes in place.
    State,
    /// A constant.
    Weights,
    /// An output of the call.
    Output,
    /// A value between dispatches.
    Scratch,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuStorage {
    /// A buffer of elements.
    Buffer,
    /// A buffer of texels.
    TexelBuffer,
    /// An image.
    Image,
    /// An array of images.
    ImageArray,
}

/// The memory of scratch tensors, without the padding of drivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuScratch {
    /// The number of objects.
    pub objects: usize,
    /// Bytes of the memory that objects with disjoint lifetimes share.
    pub placed: u64,
    /// Bytes of all objects together.
    pub sum: u64,
}

impl GpuProgram {
    /// Bytes of the weights.
    pub fn weights(&self) -> u64 {
        self.tensors.iter().filter(|tensor| tensor.role == GpuRole::Weights).map(|tensor| tensor.bytes).sum()
    }

    /// Bytes that all dispatches read, and bytes that all write.
    pub fn traffic(&self) -> (u64, u64) {
        let sum = |of: fn(&GpuDispatch) -> u64| self.dispatches.iter().map(of).sum();
        (sum(|dispatch| dispatch.bytes_read), sum(|dispatch| dispatch.bytes_written))
    }
}

impl GpuStorage {
    /// The name of the kind; of a buffer of elements, the empty text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffer => "",
            Self::TexelBuffer => "texels",
            Self::Image => "image",
            Self::ImageArray => "images",
        }
    }
}
