//! OLMo 1: norms without weights, and clipped queries, keys and values.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Norm};

pub const FAMILY: Family = Family { architectures: &["OlmoForCausalLM"], keys: &[], describe };

/// `OlmoConfig`.
const CLASS: Class =
    Class { norm: Norm { has_weights: false, has_biases: false, ..Class::LAYER_NORM.norm }, ..Class::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.norm.epsilon = CLASS.norm.epsilon;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.attention.clip = config.optional_number("clip_qkv")?;
    Ok(decoder)
}
