//! Cohere's Command R: attention and network side by side behind one norm, neighbouring rotated pairs, scaled logits.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm, Norm, NormPlaces};

pub const FAMILY: Family =
    Family { architectures: &["CohereForCausalLM"], keys: &[("rms_norm_eps", "layer_norm_eps")], describe };

/// `CohereConfig`.
pub const CLASS: Class = Class {
    norm: Norm { has_biases: false, ..Class::LAYER_NORM.norm },
    places: NormPlaces::SHARED,
    is_interleaved: true,
    tied: true,
    theta: 500_000.0,
    longest: 8192,
    ..Class::LLAMA
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = described(config, &CLASS)?;
    if config.flag("use_qk_norm")? {
        decoder.attention.head_norm = HeadNorm::Distinct;
    }
    Ok(decoder)
}

/// The common part of both generations.
pub fn described(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, class)?;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.logit_scale = Some(config.optional_number("logit_scale")?.unwrap_or(0.0625));
    Ok(decoder)
}
