//! Idefics3 and SmolVLM: a tower of SigLIP, pixel shuffle, a decoder.

use super::{Family, vision};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Mutual, Projector};

pub const FAMILY: Family = Family {
    architectures: &["Idefics3ForConditionalGeneration", "SmolVLMForConditionalGeneration"],
    keys: &[],
    describe,
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = vision::text(config)?;
    let (tower, factor) = (vision::tower(config)?, config.optional_size("scale_factor")?.unwrap_or(2));
    if tower.patches() % factor != 0 {
        return Err(
            config.mistake("scale_factor", format!("does not divide the {} patches of a side", tower.patches()))
        );
    }
    decoder.vision = Some(vision::vision(config, tower, Projector::Shuffle { factor }, Mutual::Nowhere)?);
    Ok(decoder)
}
