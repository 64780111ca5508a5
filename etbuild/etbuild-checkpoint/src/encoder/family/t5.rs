//! The encoders of T5 and mT5 alone (Raffel et al. 2020), as in Sentence-T5 (Ni et al. 2021): RMSNorm ahead, a relative position bias, scores without a
//! factor, and no table of positions.

use super::{Class, Family, Part, bert};
use crate::config::{Config, Keys};
use crate::encoder::{Block, Encoder, EncoderNames};
use crate::family::t5_shape;
use crate::{CheckpointError, NormKind};

pub const FAMILY: Family = Family {
    architectures: &[("T5EncoderModel", Part::Bare)],
    keys: KEYS,
    class: Class { adapt: Some(|encoder, config| adapt(encoder, config, "relu")), ..CLASS },
};

pub const MULTILINGUAL: Family = Family {
    architectures: &[("MT5EncoderModel", Part::Bare)],
    keys: KEYS,
    class: Class { adapt: Some(|encoder, config| adapt(encoder, config, "gated-gelu")), ..CLASS },
};

const KEYS: Keys = &[
    ("hidden_size", "d_model"),
    ("intermediate_size", "d_ff"),
    ("num_attention_heads", "num_heads"),
    ("num_hidden_layers", "num_layers"),
    ("head_dim", "d_kv"),
    ("layer_norm_eps", "layer_norm_epsilon"),
    ("max_position_embeddings", "n_positions"),
];

const CLASS: Class = Class {
    names: EncoderNames {
        tokens: "shared",
        positions: "",
        types: "",
        norm: "",
        layers: "encoder.block",
        query: "layer.0.SelfAttention.q",
        key: "layer.0.SelfAttention.k",
        value: "layer.0.SelfAttention.v",
        output: "layer.0.SelfAttention.o",
        attention_norm: "layer.0.layer_norm",
        up: "layer.1.DenseReluDense.wi",
        factor: "",
        down: "layer.1.DenseReluDense.wo",
        network_norm: "layer.1.layer_norm",
    },
    adapt: None,
    epsilon: 1e-6,
    depth: Some(64),
    positions: Some(512),
    types: 0,
    unused: &["encoder.embed_tokens.", "decoder.", "lm_head."],
    ..bert::FAMILY.class
};

fn adapt(encoder: &mut Encoder, config: &Config, network: &str) -> Result<(), CheckpointError> {
    let table = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    let shape = t5_shape(config, network, table)?;
    (encoder.activation, encoder.relative, encoder.scale) = (shape.activation, Some(shape.relative), Some(1.0));
    (encoder.norm.kind, encoder.norm.has_biases) = (NormKind::RootMeanSquare, false);
    encoder.block = Block {
        final_norm: Some("encoder.final_layer_norm"),
        is_gated: shape.is_gated,
        attention_biases: false,
        network_biases: false,
        ..Block::BERT
    };
    if shape.is_gated {
        (encoder.names.up, encoder.names.factor) = ("layer.1.DenseReluDense.wi_0", "layer.1.DenseReluDense.wi_1");
    }
    Ok(())
}
