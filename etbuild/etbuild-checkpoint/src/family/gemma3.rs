//! Gemma 3, text: five layers of six see a window and turn by a base of their own; heads are normalized.

use super::conventions::Defaults;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder, HeadNorm, Rotary, Scaling};

pub const FAMILY: Family = Family { architectures: &["Gemma3ForCausalLM"], describe };

/// `Gemma3TextConfig`, and the rotary embedding of layers with global attention.
const DEFAULTS: Defaults = Defaults { longest: 131_072, theta: 1_000_000.0, ..Defaults::GEMMA };

/// The rotary embedding of layers with a window.
const LOCAL: Defaults = Defaults { theta: 10_000.0, ..DEFAULTS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::gemma(config, &DEFAULTS)?;
    decoder.attention.head_norm = HeadNorm::Each;
    let pattern = config.optional_size("sliding_window_pattern")?;
    let pattern = pattern.or(config.optional_size("_sliding_window_pattern")?).unwrap_or(6);
    let window = conventions::window(config, &DEFAULTS)?;
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
    let global = rope.optional_map("full_attention")?.unwrap_or_else(|| rope.clone());
    let local = match rope.optional_map("sliding_attention")? {
        Some(local) => conventions::rotary(config, &local, depth, &LOCAL)?,
        None => {
            let theta = config.optional_number("rope_local_base_freq")?.unwrap_or(LOCAL.theta);
            Rotary { theta, pairs: depth / 2, scaling: Scaling::None }
        }
    };
    Ok(vec![conventions::rotary(config, &global, depth, &DEFAULTS)?, local])
}
