//! Gemma 2: every second layer sees a window, and scores and logits are capped.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family =
    Family { architectures: &["Gemma2ForCausalLM"], keys: &[("hidden_act", "hidden_activation")], describe };

/// `Gemma2Config`.
const CLASS: Class = Class { longest: 8192, score_cap: Some(50.0), logit_cap: Some(30.0), ..Class::GEMMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::capped_gemma(config, &CLASS)?;
    let window = conventions::window(config, &CLASS)?;
    conventions::slide(&mut decoder, config, window, |index| index % 2 == 0)?;
    Ok(decoder)
}
