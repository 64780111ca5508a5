//! OLMo 2: norms behind attention and the network, and over all heads of queries and keys together.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm, NormPlaces};

pub const FAMILY: Family = Family { architectures: &["Olmo2ForCausalLM"], keys: &[], describe };

/// `Olmo2Config`.
const CLASS: Class = Class { places: NormPlaces::BEHIND, ..Class::LLAMA }.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    described(config, &CLASS)
}

/// A decoder of OLMo 2 or 3.
pub fn described(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let class = Class { places: CLASS.places, norm: CLASS.norm, ..*class };
    let mut decoder = conventions::decoder(config, &class)?;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.attention.head_norm = HeadNorm::Whole;
    Ok(decoder)
}
