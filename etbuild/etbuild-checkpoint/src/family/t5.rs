//! T5 and mT5: an encoder of a text, and a decoder with cross-attention. Both have relative positions, and scores without a factor.

use serde_json::Value;

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::{Config, Keys};
use crate::{Activation, CheckpointError, Cross, Decoder, Gate, Names, NormPlaces, Relative, Source};

const KEYS: Keys = &[
    ("hidden_size", "d_model"),
    ("intermediate_size", "d_ff"),
    ("num_attention_heads", "num_heads"),
    ("head_dim", "d_kv"),
    ("rms_norm_eps", "layer_norm_epsilon"),
    ("max_position_embeddings", "n_positions"),
];

pub const T5: Family = Family { architectures: &["T5ForConditionalGeneration"], keys: KEYS, describe: describe_t5 };

pub const MT5: Family = Family { architectures: &["MT5ForConditionalGeneration"], keys: KEYS, describe: describe_mt5 };

/// `T5Config`.
const CLASS: Class = Class {
    names: Names {
        embedding: "shared",
        layers: "decoder.block",
        attention: "layer.0.SelfAttention",
        inputs: ["q", "k", "v"],
        output: "o",
        network: "layer.2.DenseReluDense",
        gate: "wi_0",
        up: "wi",
        down: "wo",
        norm: "decoder.final_layer_norm",
        ..Names::LLAMA
    },
    places: NormPlaces {
        before_attention: Some("layer.0.layer_norm"),
        before_network: Some("layer.2.layer_norm"),
        ..NormPlaces::BEFORE
    },
    gate: Gate::None,
    activation: Activation::Relu,
    longest: 512,
    ..Class::LLAMA
};

fn describe_t5(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = describe(config, "relu")?;
    // The first T5 has one matrix for embedding and head.
    let is_scaled = match config.optional_flag("scale_decoder_outputs")? {
        Some(is_scaled) => is_scaled,
        None => config.flag_or("tie_word_embeddings", true)?,
    };
    decoder.logit_scale = is_scaled.then(|| (decoder.width as f64).powf(-0.5));
    Ok(decoder)
}

fn describe_mt5(config: &Config) -> Result<Decoder, CheckpointError> {
    describe(config, "gated-gelu")
}

fn describe(config: &Config, network: &str) -> Result<Decoder, CheckpointError> {
    let layers = config.size("num_layers")?;
    let own_layers = config.optional_size("num_decoder_layers")?.unwrap_or(layers);
    let table = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    let Shape { activation, is_gated, relative } = shape(config, network, table)?;
    let more = [("num_hidden_layers", Value::from(own_layers))];
    let mut decoder = conventions::decoder(&config.clone().with_defaults(more), &CLASS)?;
    conventions::without_rotary(&mut decoder);
    decoder.feed_forward.activation = activation;
    if is_gated {
        decoder.feed_forward.gate = Gate::Separate;
        decoder.names.up = "wi_1";
    }
    decoder.attention.scale = 1.0;
    decoder.attention.relative = Some(relative);
    decoder.cross = Some(Cross {
        attention: "layer.1.EncDecAttention",
        norm: "layer.1.layer_norm",
        positions: decoder.longest,
        width: decoder.width,
    });
    decoder.source = Some(Source {
        layers: "encoder.block",
        count: layers,
        network: "layer.1.DenseReluDense",
        network_norm: "layer.1.layer_norm",
        norm: "encoder.final_layer_norm",
        table: "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    });
    Ok(decoder)
}

/// What T5's configurations state in a way of their own.
pub struct Shape {
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// Whether the activated projection is multiplied with another.
    pub is_gated: bool,
    /// The relative positions.
    pub relative: Relative,
}

/// The shape by a configuration, with the feed-forward network of a configuration without the key, and the table of relative positions.
///
/// # Errors
/// Values without meaning.
pub fn shape(config: &Config, network: &str, table: &'static str) -> Result<Shape, CheckpointError> {
    let network = config.optional_text("feed_forward_proj")?.unwrap_or_else(|| network.to_owned());
    let (name, is_gated) = match network.strip_prefix("gated-") {
        // `transformers` takes the approximation for this name.
        Some("gelu") => ("gelu_new", true),
        Some(name) => (name, true),
        None => (network.as_str(), false),
    };
    // A configuration that states the activation apart has that one.
    let name = config.optional_text("dense_act_fn")?.unwrap_or_else(|| name.to_owned());
    let known = config.clone().with_defaults([("hidden_act", Value::from(name))]);
    let activation = conventions::activation(&known, "hidden_act", Activation::Relu)?;
    let buckets = config.optional_size("relative_attention_num_buckets")?.unwrap_or(32);
    let farthest = config.optional_size("relative_attention_max_distance")?.unwrap_or(128);
    if buckets < 4 || farthest <= buckets / 2 {
        return Err(config.mistake("relative_attention_num_buckets", "has no bucket for large distances"));
    }
    Ok(Shape { activation, is_gated, relative: Relative { table, buckets, farthest } })
}
