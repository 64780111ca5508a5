//! GLM-4 of 2024: QKV biases, neighbouring rotated pairs in half of each head, gate and up in one matrix.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Gate};

pub const FAMILY: Family = Family { architectures: &["GlmForCausalLM"], keys: &[], describe };

/// `GlmConfig`.
pub const CLASS: Class = Class {
    gate: Gate::Fused,
    is_interleaved: true,
    rotated: 0.5,
    longest: 131_072,
    key_heads: Some(2),
    depth: Some(128),
    ..Class::LLAMA
}
.epsilon(1.5625e-7);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    described(config, &CLASS)
}

/// A decoder of GLM or of GLM-4 of 2025.
pub fn described(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, class)?;
    decoder.attention.biases = Biases { inputs: config.flag_or("attention_bias", true)?, output: false };
    Ok(decoder)
}
