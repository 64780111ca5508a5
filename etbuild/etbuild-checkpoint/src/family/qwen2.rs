//! Qwen 2 and 2.5: projections to queries, keys and values have biases.

use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Qwen2ForCausalLM"], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, 10_000.0)?;
    decoder.attention.biases = Biases::Inputs;
    windows(&mut decoder, config)?;
    Ok(decoder)
}

/// Layers behind the first `max_window_layers` see a window, where the model uses any.
pub fn windows(decoder: &mut Decoder, config: &Config) -> Result<(), CheckpointError> {
    let window = if config.flag("use_sliding_window")? { config.optional_tokens("sliding_window")? } else { None };
    let first = config.optional_count("max_window_layers")?.unwrap_or(0);
    conventions::slide(decoder, config, window, |index| index >= first)
}
