//! Reports of backends on the partitions of a program, as an artifact for users.

use std::collections::BTreeMap;

use etbuild_backend::{DeviceReport, MemoryFacts, Stored};
use etbuild_ir::{DelegateCall, Digest, LoweredProgram};
use serde::{Deserialize, Serialize};

/// The values that calls of backends compute: for each call a list of values for each variant of the blob.
pub type Layers = Vec<Vec<Vec<String>>>;

/// The reports of backends on a program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct EngineReport {
    /// The values that the calls compute, step by step.
    pub layers: Layers,
    /// The values that the steps leave in memory: for each call, for each step.
    pub stored: Vec<Vec<Vec<StoredValue>>>,
    /// What devices do with each call.
    pub devices: Vec<DeviceReport>,
    /// The names of the model's constants behind the packed weights, by digest of the packed weights.
    pub weights: BTreeMap<String, String>,
    /// The memory of each call.
    #[serde(default)]
    pub memory: Vec<CallMemory>,
}

/// The memory of a call of a backend, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallMemory {
    /// The largest tensor, which may be the scratch of the call.
    pub largest: u64,
    /// Inputs, outputs and scratch.
    pub total: u64,
}

impl CallMemory {
    /// Whether the memory of a board has room.
    pub const fn fits(self, memory: MemoryFacts) -> bool {
        self.largest <= memory.largest && self.total <= memory.total
    }

    /// The memory of all calls of a program, without constants.
    pub fn of(program: &LoweredProgram) -> Vec<Self> {
        let graphs = program.program().methods.values();
        let calls =
            graphs.flat_map(|graph| graph.nodes.iter().filter_map(move |node| Some((graph, DelegateCall::of(node)?))));
        calls
            .map(|(graph, call)| {
                let inputs = call.inputs.iter().flatten().filter(|id| graph.constant(**id).is_none());
                let sizes = inputs.chain(call.outputs).map(|id| graph.spec(*id).nbytes() as u64);
                Self { largest: sizes.clone().max().unwrap_or(0), total: sizes.sum() }
            })
            .collect()
    }
}

impl EngineReport {
    /// The report of partitioning.
    pub fn new(
        layers: Layers,
        stored: &[Vec<Vec<Stored>>],
        devices: Vec<DeviceReport>,
        origins: &BTreeMap<Digest, String>,
        memory: Vec<CallMemory>,
    ) -> Self {
        let step = |step: &Vec<Stored>| step.iter().map(StoredValue::from).collect();
        let stored = stored.iter().map(|call| call.iter().map(step).collect()).collect();
        let weights = origins.iter().map(|(digest, origin)| (digest.to_string(), origin.clone()));
        Self { layers, stored, devices, weights: weights.collect(), memory }
    }
}

/// A value in the memory that a step of a call has written, in the layout of the backend.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredValue {
    /// The value.
    pub value: String,
    /// The number of the written tensor, among those of the step.
    pub tensor: usize,
    /// The name of the elements' type.
    pub scalar_type: String,
    /// The shape.
    pub sizes: Vec<usize>,
    /// The stride of each dimension, in elements.
    pub strides: Vec<usize>,
    /// The first element.
    pub offset: usize,
    /// The scale and the zero point of integers that stand for `float32`.
    pub quantized: Option<(f32, i32)>,
}

impl From<&Stored> for StoredValue {
    fn from(stored: &Stored) -> Self {
        let Stored { value, tensor, scalar_type, sizes, strides, offset, quantized } = stored.clone();
        Self { value, tensor, scalar_type: scalar_type.name().to_owned(), sizes, strides, offset, quantized }
    }
}
