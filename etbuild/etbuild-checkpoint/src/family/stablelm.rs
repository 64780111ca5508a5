//! StableLM: LayerNorm, rotation of a part of each head, and optionally one norm for attention and network side by side.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm, Names, NormPlaces};

pub const FAMILY: Family =
    Family { architectures: &["StableLmForCausalLM"], keys: &[("rms_norm_eps", "layer_norm_eps")], describe };

/// `StableLmConfig`.
const CLASS: Class = Class {
    names: Names { head_norms: ["q_layernorm", "k_layernorm"], ..Names::LLAMA },
    rotated: 0.25,
    longest: 4096,
    key_heads: Some(32),
    ..Class::LAYER_NORM
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases { inputs: config.flag("use_qkv_bias")?, output: false };
    if config.flag("qk_layernorm")? {
        decoder.attention.head_norm = HeadNorm::Listed;
    }
    if config.flag("use_parallel_residual")? {
        decoder.norm_places = NormPlaces::SHARED;
    }
    Ok(decoder)
}
