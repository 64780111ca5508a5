//! Bloom: a slope of each head in place of positions, a norm behind the embedding.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, Biases, CheckpointError, Decoder, Gate, Inputs, Names};

pub const FAMILY: Family = Family {
    architectures: &["BloomForCausalLM"],
    keys: &[
        ("num_attention_heads", "n_head"),
        ("num_hidden_layers", "n_layer"),
        ("rms_norm_eps", "layer_norm_epsilon"),
        ("intermediate_size", "n_inner"),
    ],
    describe,
};

/// `BloomConfig`. No table limits the context.
const CLASS: Class = Class {
    names: Names {
        embedding: "transformer.word_embeddings",
        embedding_norm: "transformer.word_embeddings_layernorm",
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
    activation: Activation::GeluTanh,
    expansion: Some(4),
    tied: true,
    longest: 1 << 20,
    ..Class::LAYER_NORM
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    config.refuse("apply_residual_connection_post_layernorm")?;
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::without_rotary(&mut decoder);
    decoder.embedding_norm = true;
    decoder.attention.has_slopes = true;
    decoder.attention.inputs = Inputs::FusedByHead;
    decoder.attention.biases = Biases::all(true);
    decoder.feed_forward.biases = true;
    Ok(decoder)
}
