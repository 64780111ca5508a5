//! A lowered partition.

use std::fmt;
use std::sync::Arc;

use et_core::ScalarType;
use serde::{Deserialize, Serialize};

use crate::{GpuProgram, NpuEstimate, Refusal};

/// The alignment of a blob in the program file, in bytes: a cache line, and the widest vector register. An offset
/// within a blob that is a multiple of 64 is aligned in memory, whether the file is mapped or in flash.
pub const ALIGNMENT: usize = 64;

/// A lowered partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blob {
    /// The bytes that the device crate executes in place. The program file aligns the blob to [`ALIGNMENT`].
    pub bytes: Vec<u8>,
    /// The scratch memory of an execution in bytes. The memory plan places the scratch like a tensor, its contents are
    /// lost between executions, and the device crate gets the scratch as the last argument if the size is not 0.
    pub scratch: usize,
    /// The packed weights: further inputs of the delegate call, after the inputs of the partition. The program stores
    /// equal weights once across all partitions and methods.
    pub weights: Vec<Weights>,
    /// Layer names for profiles: for each instruction of the device crate, the value of the partition that the
    /// instruction computes. One list per variant of the blob; empty if the backend has no layer names.
    pub layers: Vec<Vec<String>>,
    /// Values for debuggers: for each instruction, the values that the written memory holds after the instruction. Empty if the
    /// backend cannot say, as for dynamic sizes.
    pub stored: Vec<Vec<Stored>>,
    /// What a device does with the blob, for reports.
    pub device: DeviceReport,
}

/// What a device does with a blob, for reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// The programs for GPUs, one for each class of GPUs.
    pub gpu: Vec<GpuProgram>,
    /// The estimate of an NPU's compiler.
    pub npu: Option<NpuEstimate>,
    /// The layers that a small memory makes the processor compute in patches, if any.
    #[serde(default)]
    pub patches: Option<Patches>,
}

/// Layers that are computed for a part of their rows at a time (Lin et al. 2021, MCUNetV2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patches {
    /// How many layers.
    pub layers: usize,
    /// The number of patches.
    pub count: u32,
    /// The work of the whole partition, by an estimate, relative to that without patches, in per cent.
    pub work: u32,
}

/// A value of the partition in the memory that an instruction has written.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The value.
    pub value: String,
    /// The number of the written tensor, among those of the instruction.
    pub tensor: usize,
    /// The type of the elements in memory.
    pub scalar_type: ScalarType,
    /// The shape.
    pub sizes: Vec<usize>,
    /// The stride of each dimension, in elements.
    pub strides: Vec<usize>,
    /// The first element.
    pub offset: usize,
    /// The scale and the zero point of integers that stand for `float32`.
    pub quantized: Option<(f32, i32)>,
}

impl Eq for Stored {}

/// Packed weights: constant bytes in the backend's layout, which are made on request.
#[derive(Clone)]
pub struct Weights {
    /// A text that identifies the bytes: source tensors and packing. Weights with an equal identity are packed once.
    pub identity: String,
    /// The key in data files, if a data file may replace the weights, as with another LoRA adapter. The key depends on
    /// the layout, not on the values. Without a key, `identity` names the weights.
    pub name: Option<String>,
    /// The name of the source tensor in the model, for size reports.
    pub origin: Option<String>,
    /// The size in bytes.
    pub size: usize,
    /// The packing function.
    pub content: Arc<Content>,
}

/// A function that packs weights: hands all bytes to the argument, in order, in chunks. Fails where the source tensor
/// contradicts its tensor spec.
pub type Content = dyn Fn(&mut dyn FnMut(&[u8])) -> Result<(), Refusal> + Send + Sync;

impl Weights {
    /// The bytes in memory.
    ///
    /// # Errors
    /// As [`Content`].
    pub fn bytes(&self) -> Result<Vec<u8>, Refusal> {
        let mut bytes = Vec::with_capacity(self.size);
        (self.content)(&mut |piece| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }
}

impl PartialEq for Weights {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for Weights {}

impl fmt::Debug for Weights {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, name, size, .. } = self;
        let mut weights = formatter.debug_struct("Weights");
        weights.field("identity", identity).field("name", name).field("size", size).finish()
    }
}
