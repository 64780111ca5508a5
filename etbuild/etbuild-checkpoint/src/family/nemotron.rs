//! Nemotron 3 and Minitron: LayerNorm with weights less one, a network of squared ReLU without a gate.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder, Gate, Norm};

pub const FAMILY: Family =
    Family { architectures: &["NemotronForCausalLM"], keys: &[("rms_norm_eps", "norm_eps")], describe };

/// `NemotronConfig`.
const CLASS: Class = Class {
    norm: Norm { less_one: true, ..Class::LAYER_NORM.norm },
    gate: Gate::None,
    activation: Activation::ReluSquared,
    rotated: 0.5,
    longest: 4096,
    ..Class::LLAMA
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::biases(&mut decoder, config, false)?;
    Ok(decoder)
}
