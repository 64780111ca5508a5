//! The families of models, a file each.

mod conventions;
mod gemma2;
mod gemma3;
mod llama;
mod mistral;
mod phi3;
mod qwen2;
mod qwen3;

use crate::config::Config;
use crate::{CheckpointError, Decoder};

/// Models with the same description function.
pub struct Family {
    /// The model classes of `transformers`, as configurations name the classes.
    pub architectures: &'static [&'static str],
    /// The description of a model from the configuration.
    pub describe: fn(&Config) -> Result<Decoder, CheckpointError>,
}

/// Every family.
pub const FAMILIES: &[&Family] = &[
    &gemma2::FAMILY,
    &gemma3::FAMILY,
    &llama::FAMILY,
    &mistral::FAMILY,
    &phi3::FAMILY,
    &qwen2::FAMILY,
    &qwen3::FAMILY,
];

/// The family of an architecture.
pub fn find(architecture: &str) -> Option<&'static Family> {
    FAMILIES.iter().copied().find(|family| family.architectures.contains(&architecture))
}
