//! Reports of backends on the partitions of a program, as an artifact for users.

use std::collections::BTreeMap;

use etbuild_backend::Origin;
use etbuild_ir::Digest;
use serde::{Deserialize, Serialize};

/// The values that calls of backends compute: for each call a list of values for each variant of the blob.
pub type Layers = Vec<Vec<Vec<String>>>;

/// The reports of backends on a program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct EngineReport {
    /// The values that the calls compute, step by step.
    pub layers: Layers,
    /// The sources of the packed weights, by digest.
    pub weights: BTreeMap<String, PackedWeight>,
}

/// Weights that an engine packed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PackedWeight {
    /// The constant's name in the model.
    pub constant: String,
    /// The instruction set of the packing; empty where all instruction sets read the same packing.
    pub form: String,
}

impl EngineReport {
    /// The report of partitioning.
    pub fn new(layers: Layers, origins: &BTreeMap<Digest, Origin>) -> Self {
        let packed = |origin: &Origin| PackedWeight { constant: origin.constant.clone(), form: origin.form.clone() };
        let weights = origins.iter().map(|(digest, origin)| (digest.to_string(), packed(origin)));
        Self { layers, weights: weights.collect() }
    }
}
