//! ModernBERT (Warner et al. 2024): norms ahead, RoPE, attention within a window in two of three layers, and a gated network.

use super::{Class, Family, Part};
use crate::config::Config;
use crate::encoder::{Block, Dense, Encoder, EncoderNames, Head, Pooling, Reach, SequenceHead};
use crate::family::activation;
use crate::{Activation, CheckpointError};

pub const FAMILY: Family = Family {
    architectures: &[
        ("ModernBertModel", Part::Bare),
        ("ModernBertForMaskedLM", Part::Bare),
        ("ModernBertForSequenceClassification", Part::Sequence),
        ("ModernBertForTokenClassification", Part::Tokens),
    ],
    keys: &[("layer_norm_eps", "norm_eps"), ("hidden_act", "hidden_activation")],
    class: Class {
        names: EncoderNames {
            tokens: "model.embeddings.tok_embeddings",
            positions: "",
            types: "",
            norm: "model.embeddings.norm",
            layers: "model.layers",
            query: "attn.Wqkv",
            key: "",
            value: "",
            output: "attn.Wo",
            attention_norm: "attn_norm",
            up: "mlp.Wi",
            factor: "",
            down: "mlp.Wo",
            network_norm: "mlp_norm",
        },
        sequence: SequenceHead { pooling: Pooling::Cls, dense: DENSE, output: "classifier" },
        tokens: "classifier",
        adapt: Some(adapt),
        epsilon: 1e-5,
        depth: None,
        positions: None,
        types: 0,
        begins_behind_padding: false,
        unused: &["head.", "decoder."],
    },
};

const DENSE: Dense =
    Dense { module: "head.dense", has_bias: false, activation: Some(Activation::Gelu), norm: Some("head.norm") };

fn adapt(encoder: &mut Encoder, config: &Config) -> Result<(), CheckpointError> {
    encoder.norm.has_biases = config.flag("norm_bias")?;
    encoder.block = Block {
        final_norm: Some("model.final_norm"),
        is_joined: true,
        is_gated: true,
        attention_biases: config.flag("attention_bias")?,
        network_biases: config.flag("mlp_bias")?,
    };
    encoder.reaches = reaches(config, encoder.layers)?;
    let dense = Dense {
        has_bias: config.flag("classifier_bias")?,
        activation: Some(activation(config, "classifier_activation", Activation::Gelu)?),
        ..DENSE
    };
    match &mut encoder.head {
        Head::Embedding { .. } => {}
        Head::Tokens { dense: head, .. } => *head = Some(dense),
        Head::Sequence(head) => (head.dense, head.pooling) = (dense, pooling(config)?),
    }
    Ok(())
}

fn pooling(config: &Config) -> Result<Pooling, CheckpointError> {
    const KEY: &str = "classifier_pooling";
    match config.optional_text(KEY)?.as_deref() {
        None | Some("cls") => Ok(Pooling::Cls),
        Some("mean") => Ok(Pooling::Mean),
        Some(_) => Err(config.unsupported(KEY, "`cls`, `mean`")),
    }
}

/// Layers within a window by `layer_types`, or all but each third; the bases of RoPE by `rope_parameters`, or under their older names.
fn reaches(config: &Config, layers: usize) -> Result<Vec<Reach>, CheckpointError> {
    const TYPES: &str = "layer_types";
    let each = config.optional_size("global_attn_every_n_layers")?.unwrap_or(3);
    let kinds = config.optional_texts(TYPES)?;
    let kinds = kinds.unwrap_or_else(|| (0..layers).map(|index| kind(index % each != 0).to_owned()).collect());
    if kinds.len() != layers || kinds.iter().any(|found| ![kind(true), kind(false)].contains(&found.as_str())) {
        return Err(config.mistake(TYPES, "does not name `sliding_attention` or `full_attention` for each layer"));
    }
    let window = config.optional_size("local_attention")?.unwrap_or(128) / 2;
    let local = Reach { theta: Some(theta(config, true)?), window: Some(window) };
    let global = Reach { theta: Some(theta(config, false)?), window: None };
    Ok(kinds.iter().map(|found| if found == kind(true) { local } else { global }).collect())
}

const fn kind(is_local: bool) -> &'static str {
    if is_local { "sliding_attention" } else { "full_attention" }
}

fn theta(config: &Config, is_local: bool) -> Result<f64, CheckpointError> {
    let (old, usual) = if is_local { ("local_rope_theta", 1e4) } else { ("global_rope_theta", 1.6e5) };
    if config.value("rope_scaling").is_some() {
        return Err(config.unsupported("rope_scaling", "null"));
    }
    let rope =
        config.optional_map("rope_parameters")?.map(|all| all.optional_map(kind(is_local))).transpose()?.flatten();
    let Some(rope) = rope else { return Ok(config.optional_number(old)?.unwrap_or(usual)) };
    if rope.optional_text("rope_type")?.is_some_and(|kind| kind != "default") {
        return Err(rope.unsupported("rope_type", "`default`"));
    }
    Ok(rope.optional_number("rope_theta")?.unwrap_or(usual))
}
