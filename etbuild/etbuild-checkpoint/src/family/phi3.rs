//! Phi-3 and Phi-4-mini: fused projections, and rotation of a part of each head.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Gate, Inputs};

pub const FAMILY: Family = Family { architectures: &["Phi3ForCausalLM"], keys: &[], describe };

/// `Phi3Config`.
const CLASS: Class = Class { gate: Gate::Fused, longest: 4096, original: Some(4096), ..Class::LLAMA }.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.inputs = Inputs::Fused;
    let window = conventions::window(config, &CLASS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}
