//! Qwen 2 and 2.5: projections to queries, keys and values have biases.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Qwen2ForCausalLM"], keys: &[], describe };

/// `Qwen2Config`.
pub const CLASS: Class = Class { longest: 32_768, window: Some(4096), key_heads: Some(32), ..Class::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases::INPUTS;
    windows(&mut decoder, config)?;
    Ok(decoder)
}

/// Layers behind the first `max_window_layers` see a window, where the model uses any.
pub fn windows(decoder: &mut Decoder, config: &Config) -> Result<(), CheckpointError> {
    let window = conventions::switched_window(config, &CLASS)?;
    let first = config.optional_count("max_window_layers")?.unwrap_or(28);
    conventions::slide(decoder, config, window, |index| index >= first)?;
    Ok(())
}
