//! What engines say of the parts of a program that they took, as an artifact: for people alone.

use std::collections::BTreeMap;

use etbuild_backend::Origin;
use etbuild_ir::Digest;
use serde::{Deserialize, Serialize};

/// What the calls of engines compute: for each call a list of values for each form that its blob has.
pub type Layers = Vec<Vec<Vec<String>>>;

/// What engines say of a program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct EngineReport {
    /// What their calls compute, step by step.
    pub layers: Layers,
    /// What the weights that they packed were made of, by digest.
    pub weights: BTreeMap<String, PackedWeight>,
}

/// Weights that an engine packed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PackedWeight {
    /// The constant's name in the model.
    pub constant: String,
    /// The instruction set that they are packed for; empty where all read the same.
    pub form: String,
}

impl EngineReport {
    /// Of what came of partitioning.
    pub fn new(layers: Layers, origins: &BTreeMap<Digest, Origin>) -> Self {
        let packed = |origin: &Origin| PackedWeight { constant: origin.constant.clone(), form: origin.form.clone() };
        let weights = origins.iter().map(|(digest, origin)| (digest.to_string(), packed(origin)));
        Self { layers, weights: weights.collect() }
    }
}
