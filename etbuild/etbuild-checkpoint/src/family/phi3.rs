//! Phi-3 and Phi-4-mini: fused projections, and rotation of a part of each head.

use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Phi3ForCausalLM"], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, 10_000.0)?;
    decoder.attention.fused = true;
    decoder.feed_forward.fused = true;
    let window = config.optional_tokens("sliding_window")?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}
