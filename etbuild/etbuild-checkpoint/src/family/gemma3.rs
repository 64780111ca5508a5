//! Gemma 3, text: five layers of six see a window and turn by a base of their own; heads are normalized.

use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder, HeadNorm, Rotary, Scaling};

pub const FAMILY: Family = Family { architectures: &["Gemma3ForCausalLM"], describe };

const GLOBAL_THETA: f64 = 1_000_000.0;
const LOCAL_THETA: f64 = 10_000.0;

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::gemma(config, GLOBAL_THETA)?;
    decoder.attention.head_norm = HeadNorm::Each;
    let pattern = config.optional_size("sliding_window_pattern")?;
    let pattern = pattern.or(config.optional_size("_sliding_window_pattern")?).unwrap_or(6);
    let window = config.optional_tokens("sliding_window")?;
    conventions::slide(&mut decoder, config, window, |index| (index + 1) % pattern != 0)?;
    decoder.rotaries = rotaries(config, decoder.attention.depth)?;
    for layer in &mut decoder.layers {
        layer.rotary = Some(usize::from(layer.window.is_some()));
    }
    Ok(decoder)
}

/// The rotary embedding of layers with global attention, and of layers with a window.
fn rotaries(config: &Config, depth: usize) -> Result<Vec<Rotary>, CheckpointError> {
    let rope = conventions::rope(config)?;
    let kinds = [rope.optional_map("full_attention")?, rope.optional_map("sliding_attention")?];
    if let [Some(global), Some(local)] = &kinds {
        let rotary = |rope, theta| conventions::rotary(config, rope, depth, theta);
        return Ok(vec![rotary(global, GLOBAL_THETA)?, rotary(local, LOCAL_THETA)?]);
    }
    let theta = config.optional_number("rope_local_base_freq")?.unwrap_or(LOCAL_THETA);
    let local = Rotary { theta, pairs: depth / 2, scaling: Scaling::None };
    Ok(vec![conventions::rotary(config, &rope, depth, GLOBAL_THETA)?, local])
}
