//! Reports of backends on the partitions of a program, as an artifact for users.

use std::collections::BTreeMap;

use etbuild_ir::Digest;
use serde::{Deserialize, Serialize};

/// The values that calls of backends compute: for each call a list of values for each variant of the blob.
pub type Layers = Vec<Vec<Vec<String>>>;

/// The reports of backends on a program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct EngineReport {
    /// The values that the calls compute, step by step.
    pub layers: Layers,
    /// The names of the model's constants behind the packed weights, by digest of the packed weights.
    pub weights: BTreeMap<String, String>,
}

impl EngineReport {
    /// The report of partitioning.
    pub fn new(layers: Layers, origins: &BTreeMap<Digest, String>) -> Self {
        let weights = origins.iter().map(|(digest, origin)| (digest.to_string(), origin.clone()));
        Self { layers, weights: weights.collect() }
    }
}
