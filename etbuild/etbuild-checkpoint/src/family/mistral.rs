//! Mistral: Llama's architecture, of which older models see a window.

use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["MistralForCausalLM"], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, 10_000.0)?;
    let window = config.optional_tokens("sliding_window")?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}
