//! Mistral: Llama's architecture, of which older models see a window.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["MistralForCausalLM"], keys: &[], describe };

/// `MistralConfig`.
pub const CLASS: Class = Class { longest: 131_072, window: Some(4096), key_heads: Some(8), ..Class::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    let window = conventions::window(config, &CLASS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}
