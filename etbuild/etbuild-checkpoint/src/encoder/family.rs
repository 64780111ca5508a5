//! The families of encoders, a file each.

mod bert;
mod conventions;
mod distilbert;
mod modernbert;
mod mpnet;
mod roberta;
mod t5;

use super::Encoder;
use crate::config::{Config, Keys};
use crate::{CONFIG, CheckpointError};
pub use conventions::{Class, Part};

/// Encoders with the same facts.
pub struct Family {
    /// The model classes of `transformers`, as configurations name the classes, with the part behind the last layer.
    pub architectures: &'static [(&'static str, Part)],
    /// The keys that the family names otherwise.
    pub keys: Keys,
    /// What no configuration states.
    pub class: Class,
}

/// All families.
pub const FAMILIES: &[&Family] = &[
    &bert::FAMILY,
    &distilbert::FAMILY,
    &modernbert::FAMILY,
    &mpnet::FAMILY,
    &roberta::FAMILY,
    &t5::FAMILY,
    &t5::MULTILINGUAL,
];

/// The family of an architecture, with the part behind the last layer.
pub fn find(architecture: &str) -> Option<(&'static Family, Part)> {
    let within = |family: &&'static Family| {
        let found = family.architectures.iter().find(|(name, _)| *name == architecture);
        found.map(|(_, part)| (*family, *part))
    };
    FAMILIES.iter().find_map(within)
}

/// The description of an encoder, before the files of `sentence-transformers`.
pub fn describe(config: &Config) -> Result<Encoder, CheckpointError> {
    let name = config.architecture()?;
    let (family, part) = find(&name).ok_or_else(|| CheckpointError::Architecture {
        file: CONFIG,
        key: "architectures",
        found: name,
        missing: Vec::new(),
        known: super::encoder_architectures().collect(),
    })?;
    conventions::encoder(&config.clone().with_keys(family.keys), &family.class, part)
}
