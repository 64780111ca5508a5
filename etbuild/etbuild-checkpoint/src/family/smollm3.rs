//! SmolLM3: Llama's architecture, of which every fourth layer has no rotary embedding.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["SmolLM3ForCausalLM"], keys: &[], describe };

/// `SmolLM3Config`.
const CLASS: Class = Class { theta: 2_000_000.0, longest: 32_768, key_heads: Some(4), tied: true, ..Class::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::biases(&mut decoder, config, false)?;
    let interval = config.optional_size("no_rope_layer_interval")?.unwrap_or(4);
    let by_interval = || (0..decoder.layers.len()).map(|index| (index + 1) % interval != 0).collect();
    let rotates: Vec<bool> = config.optional_switches("no_rope_layers")?.unwrap_or_else(by_interval);
    if rotates.len() < decoder.layers.len() {
        return Err(config.mistake("no_rope_layers", "has no number for each layer"));
    }
    conventions::rotate_only(&mut decoder, &rotates);
    let (window, slides) = (conventions::window(config, &CLASS)?, config.flag("use_sliding_window")?);
    conventions::slide(&mut decoder, config, window, |index| slides && rotates.get(index) == Some(&false))?;
    Ok(decoder)
}
