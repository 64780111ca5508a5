//! ERNIE 4.5: Llama's architecture with neighbouring rotated pairs.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Ernie4_5ForCausalLM"], keys: &[], describe };

/// `Ernie4_5Config`.
pub const CLASS: Class = Class {
    is_interleaved: true,
    tied: true,
    theta: 500_000.0,
    longest: 131_072,
    key_heads: Some(2),
    depth: Some(128),
    ..Class::LLAMA
}
.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    described(config, &CLASS)
}

/// A decoder of ERNIE 4.5, dense.
pub fn described(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, class)?;
    let has_biases = config.flag("use_bias")?;
    decoder.attention.biases = Biases::all(has_biases);
    decoder.feed_forward.biases = has_biases;
    Ok(decoder)
}
