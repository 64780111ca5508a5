//! Gemma 2: every second layer sees a window, and scores and logits are capped.

use super::conventions::Defaults;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Gemma2ForCausalLM"], describe };

/// `Gemma2Config`.
const DEFAULTS: Defaults = Defaults { longest: 8192, score_cap: Some(50.0), logit_cap: Some(30.0), ..Defaults::GEMMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::gemma(config, &DEFAULTS)?;
    let window = conventions::window(config, &DEFAULTS)?;
    conventions::slide(&mut decoder, config, window, |index| index % 2 == 0)?;
    Ok(decoder)
}
