//! MPT: a slope of each head in place of positions, no biases.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder, Gate, Inputs, Names, Norm, NormPlaces};

pub const FAMILY: Family = Family {
    architectures: &["MptForCausalLM"],
    keys: &[
        ("hidden_size", "d_model"),
        ("num_attention_heads", "n_heads"),
        ("num_hidden_layers", "n_layers"),
        ("rms_norm_eps", "layer_norm_epsilon"),
    ],
    describe,
};

/// `MptConfig`. No table limits the context.
const CLASS: Class = Class {
    names: Names {
        embedding: "transformer.wte",
        layers: "transformer.blocks",
        attention: "attn",
        fused_inputs: "Wqkv",
        output: "out_proj",
        network: "ffn",
        norm: "transformer.norm_f",
        ..Names::LLAMA
    },
    norm: Norm { has_biases: false, ..Class::LAYER_NORM.norm },
    places: NormPlaces { before_attention: Some("norm_1"), before_network: Some("norm_2"), ..NormPlaces::BEFORE },
    gate: Gate::None,
    activation: Activation::Gelu,
    expansion: Some(4),
    tied: true,
    longest: 1 << 20,
    ..Class::LLAMA
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::without_rotary(&mut decoder);
    decoder.feed_forward.width = CLASS.expansion.unwrap_or(4) * decoder.width;
    decoder.attention.has_slopes = true;
    decoder.attention.inputs = Inputs::Fused;
    if let Some(attention) = config.optional_map("attn_config")? {
        if attention.optional_number("alibi_bias_max")?.is_some_and(|most| most != 8.0) {
            return Err(attention.unsupported("alibi_bias_max", "8"));
        }
        decoder.attention.clip = attention.optional_number("clip_qkv")?;
        decoder.attention.scale = attention.optional_number("softmax_scale")?.unwrap_or(decoder.attention.scale);
    }
    Ok(decoder)
}
