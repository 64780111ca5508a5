//! StarCoder 2: LayerNorm, biases everywhere, and a network without a gate.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, Biases, CheckpointError, Decoder, Gate, Names};

pub const FAMILY: Family =
    Family { architectures: &["Starcoder2ForCausalLM"], keys: &[("rms_norm_eps", "norm_epsilon")], describe };

/// `Starcoder2Config`.
const CLASS: Class = Class {
    names: Names { up: "c_fc", down: "c_proj", ..Names::LLAMA },
    gate: Gate::None,
    activation: Activation::GeluTanh,
    tied: true,
    longest: 4096,
    key_heads: Some(2),
    ..Class::LAYER_NORM
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    let has_biases = config.flag_or("use_bias", true)?;
    decoder.attention.biases = Biases::all(has_biases);
    decoder.feed_forward.biases = has_biases;
    let window = conventions::window(config, &CLASS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}
