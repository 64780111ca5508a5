//! Idefics3 and SmolVLM: a tower of SigLIP, pixel shuffle, a decoder.

use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Projector};

pub const FAMILY: Family = Family {
    architectures: &["Idefics3ForConditionalGeneration", "SmolVLMForConditionalGeneration"],
    keys: &[],
    describe,
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::text(config)?;
    let (tower, factor) = (conventions::tower(config)?, config.optional_size("scale_factor")?.unwrap_or(2));
    if tower.patches() % factor != 0 {
        return Err(
            config.mistake("scale_factor", format!("does not divide the {} patches of a side", tower.patches()))
        );
    }
    decoder.vision = Some(conventions::vision(config, tower, Projector::Shuffle { factor }, false)?);
    Ok(decoder)
}
