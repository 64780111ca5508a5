//! Gemma 2: every second layer sees a window, and scores and logits are capped.

use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Gemma2ForCausalLM"], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::gemma(config, 10_000.0)?;
    let window = config.optional_tokens("sliding_window")?;
    conventions::slide(&mut decoder, config, window, |index| index % 2 == 0)?;
    Ok(decoder)
}
