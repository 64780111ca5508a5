//! Gemma 3 with pictures: a tower of SigLIP, means of squares of patches, a decoder in which the image tokens of a picture see each other.

use super::{Family, vision};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Mutual, Projector};

pub const FAMILY: Family = Family { architectures: &["Gemma3ForConditionalGeneration"], keys: &[], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    const TOKENS: &str = "mm_tokens_per_image";
    let mut decoder = vision::text(config)?;
    let tower = vision::tower(config)?;
    let side = config.optional_size(TOKENS)?.unwrap_or(256).isqrt();
    if tower.patches() % side != 0 {
        return Err(config.mistake(TOKENS, format!("is no grid of the {0}x{0} patches", tower.patches())));
    }
    decoder.vision = Some(vision::vision(config, tower, Projector::Pool { side, less_one: true }, Mutual::Everywhere)?);
    Ok(decoder)
}
