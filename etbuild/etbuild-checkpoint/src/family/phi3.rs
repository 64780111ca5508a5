//! Phi-3 and Phi-4-mini: fused projections, and rotation of a part of each head.

use super::conventions::Defaults;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Phi3ForCausalLM"], describe };

/// `Phi3Config`.
const DEFAULTS: Defaults = Defaults { epsilon: 1e-5, longest: 4096, original: Some(4096), ..Defaults::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &DEFAULTS)?;
    decoder.attention.fused = true;
    decoder.feed_forward.fused = true;
    let window = conventions::window(config, &DEFAULTS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}
