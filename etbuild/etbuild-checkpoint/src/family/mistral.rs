//! Mistral: Llama's architecture, of which older models see a window.

use super::conventions::Defaults;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["MistralForCausalLM"], describe };

/// `MistralConfig`.
const DEFAULTS: Defaults = Defaults { longest: 131_072, window: Some(4096), key_heads: Some(8), ..Defaults::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &DEFAULTS)?;
    let window = conventions::window(config, &DEFAULTS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}
