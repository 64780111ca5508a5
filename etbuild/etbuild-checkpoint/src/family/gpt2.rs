//! GPT-2: learned positions, LayerNorm, biases everywhere, matrices stored transposed.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::{Config, Keys};
use crate::{Activation, Biases, CheckpointError, Decoder, Gate, Inputs, Names, NormPlaces, Positions};

pub const FAMILY: Family = Family { architectures: &["GPT2LMHeadModel"], keys: KEYS, describe };

/// The keys of GPT-2's configuration.
pub const KEYS: Keys = &[
    ("hidden_size", "n_embd"),
    ("max_position_embeddings", "n_positions"),
    ("num_attention_heads", "n_head"),
    ("num_hidden_layers", "n_layer"),
    ("intermediate_size", "n_inner"),
    ("hidden_act", "activation_function"),
    ("rms_norm_eps", "layer_norm_epsilon"),
];

/// `GPT2Config`.
pub const CLASS: Class = Class {
    names: Names {
        embedding: "transformer.wte",
        positions: "transformer.wpe",
        layers: "transformer.h",
        attention: "attn",
        fused_inputs: "c_attn",
        output: "c_proj",
        up: "c_fc",
        down: "c_proj",
        norm: "transformer.ln_f",
        ..Names::LLAMA
    },
    places: NormPlaces { before_attention: Some("ln_1"), before_network: Some("ln_2"), ..NormPlaces::BEFORE },
    gate: Gate::None,
    activation: Activation::GeluTanh,
    expansion: Some(4),
    tied: true,
    longest: 1024,
    ..Class::LAYER_NORM
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = described(config)?;
    decoder.transposed = true;
    Ok(decoder)
}

/// A decoder of GPT-2, of matrices that are not transposed.
pub fn described(config: &Config) -> Result<Decoder, CheckpointError> {
    ["add_cross_attention", "scale_attn_by_inverse_layer_idx"].iter().try_for_each(|key| config.refuse(key))?;
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::without_rotary(&mut decoder);
    decoder.positions = Some(Positions { first: 0, rows: decoder.longest });
    decoder.attention.inputs = Inputs::Fused;
    decoder.attention.biases = Biases::all(true);
    decoder.feed_forward.biases = true;
    if !config.flag_or("scale_attn_weights", true)? {
        decoder.attention.scale = 1.0;
    }
    Ok(decoder)
}
