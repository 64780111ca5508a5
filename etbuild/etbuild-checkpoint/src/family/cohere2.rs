//! Cohere's Command R7B and Command A: layers with a window and rotary embedding, every fourth with neither.

use super::conventions::Class;
use super::{Family, cohere, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family =
    Family { architectures: &["Cohere2ForCausalLM"], keys: &[("rms_norm_eps", "layer_norm_eps")], describe };

/// `Cohere2Config`.
const CLASS: Class = Class { theta: 10_000.0, window: Some(4096), ..cohere::CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = cohere::described(config, &CLASS)?;
    let pattern = config.optional_size("sliding_window_pattern")?.unwrap_or(4);
    let window = conventions::window(config, &CLASS)?;
    conventions::slide(&mut decoder, config, window, |index| (index + 1) % pattern != 0)?;
    let rotates: Vec<bool> = decoder.layers.iter().map(|layer| layer.window.is_some()).collect();
    conventions::rotate_only(&mut decoder, &rotates);
    Ok(decoder)
}
