//! Gemma 1: norms with weights less one, and a scaled embedding.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["GemmaForCausalLM"], keys: &[], describe };

/// `GemmaConfig`.
const CLASS: Class = Class { longest: 8192, window: None, key_heads: Some(16), ..Class::GEMMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::gemma(config, &CLASS)?;
    // Old configurations say `gelu` and mean the approximation by `tanh`.
    if decoder.feed_forward.activation == Activation::Gelu {
        decoder.feed_forward.activation = Activation::GeluTanh;
    }
    Ok(decoder)
}
