//! GPT-NeoX and Pythia: attention and network side by side, queries, keys and values in one matrix by head.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, Biases, CheckpointError, Decoder, Gate, Inputs, Names, NormPlaces};

pub const FAMILY: Family = Family {
    architectures: &["GPTNeoXForCausalLM"],
    keys: &[
        ("rms_norm_eps", "layer_norm_eps"),
        ("rope_theta", "rotary_emb_base"),
        ("partial_rotary_factor", "rotary_pct"),
    ],
    describe,
};

/// `GPTNeoXConfig`.
const CLASS: Class = Class {
    names: Names {
        embedding: "gpt_neox.embed_in",
        layers: "gpt_neox.layers",
        attention: "attention",
        fused_inputs: "query_key_value",
        output: "dense",
        up: "dense_h_to_4h",
        down: "dense_4h_to_h",
        norm: "gpt_neox.final_layer_norm",
        head: "embed_out",
        ..Names::LLAMA
    },
    gate: Gate::None,
    activation: Activation::Gelu,
    rotated: 0.25,
    ..Class::LAYER_NORM
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.norm_places =
        NormPlaces { is_parallel: config.flag_or("use_parallel_residual", true)?, ..NormPlaces::BEFORE };
    decoder.attention.inputs = Inputs::FusedByHead;
    decoder.attention.biases = Biases::all(config.flag_or("attention_bias", true)?);
    decoder.feed_forward.biases = true;
    Ok(decoder)
}
