//! Phi-1, 1.5 and 2: attention and network side by side behind one LayerNorm, biases everywhere, the head too.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, Biases, CheckpointError, Decoder, Gate, HeadNorm, Names, NormPlaces};

pub const FAMILY: Family =
    Family { architectures: &["PhiForCausalLM"], keys: &[("rms_norm_eps", "layer_norm_eps")], describe };

/// `PhiConfig`.
const CLASS: Class = Class {
    names: Names {
        output: "dense",
        head_norms: ["q_layernorm", "k_layernorm"],
        up: "fc1",
        down: "fc2",
        norm: "model.final_layernorm",
        ..Names::LLAMA
    },
    places: NormPlaces::SHARED,
    gate: Gate::None,
    activation: Activation::GeluTanh,
    rotated: 0.5,
    ..Class::LAYER_NORM
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases::all(true);
    decoder.feed_forward.biases = true;
    decoder.head_bias = true;
    if config.flag("qk_layernorm")? {
        decoder.attention.head_norm = HeadNorm::Each;
    }
    Ok(decoder)
}
