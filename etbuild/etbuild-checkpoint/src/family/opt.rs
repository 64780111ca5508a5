//! OPT: learned positions from the third row, LayerNorm, a network of ReLU without a gate.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, Biases, CheckpointError, Decoder, Gate, Names, NormPlaces, Positions};

pub const FAMILY: Family = Family {
    architectures: &["OPTForCausalLM"],
    keys: &[("intermediate_size", "ffn_dim"), ("hidden_act", "activation_function")],
    describe,
};

/// `OPTConfig`.
const CLASS: Class = Class {
    names: Names {
        embedding: "model.decoder.embed_tokens",
        positions: "model.decoder.embed_positions",
        layers: "model.decoder.layers",
        output: "out_proj",
        network: "",
        up: "fc1",
        down: "fc2",
        norm: "model.decoder.final_layer_norm",
        ..Names::LLAMA
    },
    places: NormPlaces {
        before_attention: Some("self_attn_layer_norm"),
        before_network: Some("final_layer_norm"),
        ..NormPlaces::BEFORE
    },
    gate: Gate::None,
    activation: Activation::Relu,
    tied: true,
    ..Class::LAYER_NORM
};

/// The rows of the table before the first position.
const FIRST: usize = 2;

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    if !config.flag_or("do_layer_norm_before", true)? {
        return Err(config.unsupported("do_layer_norm_before", "`true`"));
    }
    config.refuse("_remove_final_layer_norm")?;
    let mut decoder = conventions::decoder(config, &CLASS)?;
    if config.optional_size("word_embed_proj_dim")?.is_some_and(|width| width != decoder.width) {
        return Err(config.unsupported("word_embed_proj_dim", "the `hidden_size`"));
    }
    let (has_biases, has_weights) =
        (config.flag_or("enable_bias", true)?, config.flag_or("layer_norm_elementwise_affine", true)?);
    conventions::without_rotary(&mut decoder);
    decoder.positions = Some(Positions { first: FIRST, rows: decoder.longest.saturating_add(FIRST) });
    decoder.norm.epsilon = CLASS.norm.epsilon;
    (decoder.norm.has_weights, decoder.norm.has_biases) = (has_weights, has_weights);
    decoder.attention.biases = Biases::all(has_biases);
    decoder.feed_forward.biases = has_biases;
    Ok(decoder)
}
