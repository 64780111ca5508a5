//! Gemma 3, text: five layers of six see a window and turn by a base of their own; heads are normalized.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder, HeadNorm};

pub const FAMILY: Family =
    Family { architectures: &["Gemma3ForCausalLM"], keys: &[("hidden_act", "hidden_activation")], describe };

/// `Gemma3TextConfig`, and the rotary embedding of layers with global attention.
const CLASS: Class = Class { longest: 131_072, theta: 1_000_000.0, ..Class::GEMMA };

/// The rotary embedding of layers with a window.
const LOCAL: Class = Class { theta: 10_000.0, ..CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::capped_gemma(config, &CLASS)?;
    decoder.attention.head_norm = HeadNorm::Each;
    let pattern = config.optional_size("sliding_window_pattern")?;
    let pattern = pattern.or(config.optional_size("_sliding_window_pattern")?).unwrap_or(6);
    let window = conventions::window(config, &CLASS)?;
    let local = conventions::slide(&mut decoder, config, window, |index| (index + 1) % pattern != 0)?;
    let kinds = [&CLASS, &LOCAL].map(|class| (class, decoder.attention.depth));
    conventions::rotate_by_kind(&mut decoder, config, kinds, "rope_local_base_freq", &local)?;
    Ok(decoder)
}
