//! Falcon: queries, keys and values in one matrix by head of keys; attention and network side by side in most models.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, Biases, CheckpointError, Decoder, Gate, Inputs, Names, NormPlaces};

pub const FAMILY: Family = Family {
    architectures: &["FalconForCausalLM"],
    keys: &[
        ("rms_norm_eps", "layer_norm_epsilon"),
        ("hidden_act", "activation"),
        ("intermediate_size", "ffn_hidden_size"),
        ("num_key_value_heads", "num_kv_heads"),
    ],
    describe,
};

/// `FalconConfig`.
const CLASS: Class = Class {
    names: Names {
        embedding: "transformer.word_embeddings",
        layers: "transformer.h",
        attention: "self_attention",
        fused_inputs: "query_key_value",
        output: "dense",
        up: "dense_h_to_4h",
        down: "dense_4h_to_h",
        norm: "transformer.ln_f",
        ..Names::LLAMA
    },
    gate: Gate::None,
    activation: Activation::Gelu,
    expansion: Some(4),
    tied: true,
    ..Class::LAYER_NORM
};

/// Two norms for attention and network side by side.
const TWO: NormPlaces =
    NormPlaces { before_attention: Some("ln_attn"), before_network: Some("ln_mlp"), ..NormPlaces::SHARED };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    config.refuse("alibi")?;
    let mut decoder = conventions::decoder(config, &CLASS)?;
    let (is_new, has_biases) = (config.flag("new_decoder_architecture")?, config.flag("bias")?);
    if !is_new {
        decoder.attention.key_heads = if config.flag_or("multi_query", true)? { 1 } else { decoder.attention.heads };
    }
    decoder.norm_places = places(config, is_new)?;
    decoder.attention.inputs = Inputs::FusedByHead;
    decoder.attention.biases = Biases::all(has_biases);
    decoder.feed_forward.biases = has_biases;
    Ok(decoder)
}

fn places(config: &Config, is_new: bool) -> Result<NormPlaces, CheckpointError> {
    let is_parallel = config.flag_or("parallel_attn", true)?;
    let norms = config.optional_size("num_ln_in_parallel_attn")?.unwrap_or(if is_new { 2 } else { 1 });
    match (is_new, is_parallel, norms) {
        (true, true, 2) => Ok(TWO),
        (_, true, 1) => Ok(NormPlaces::SHARED),
        (false, false, _) => Ok(NormPlaces::BEFORE),
        (true, false, _) => Err(config.unsupported("parallel_attn", "`true` with `new_decoder_architecture`")),
        _ => Err(config.unsupported("num_ln_in_parallel_attn", "1, and 2 with `new_decoder_architecture`")),
    }
}
