//! BERT (Devlin et al. 2018), and models of its shape such as MiniLM, E5, BGE and GTE.

use super::{Class, Family, Part};
use crate::encoder::{Dense, EncoderNames, Pooling, SequenceHead};

pub const FAMILY: Family = Family {
    architectures: &[
        ("BertModel", Part::Bare),
        ("BertForMaskedLM", Part::Bare),
        ("BertForPreTraining", Part::Bare),
        ("BertForSequenceClassification", Part::Sequence),
        ("BertForTokenClassification", Part::Tokens),
    ],
    keys: &[],
    class: Class {
        names: NAMES,
        sequence: SequenceHead { pooling: Pooling::Cls, dense: Dense::tanh("bert.pooler.dense"), output: "classifier" },
        tokens: "classifier",
        adapt: None,
        epsilon: 1e-12,
        depth: None,
        positions: None,
        types: 2,
        begins_behind_padding: false,
        unused: &["cls.", "bert.pooler.", "pooler."],
    },
};

/// The names within `bert`.
pub const NAMES: EncoderNames = EncoderNames {
    tokens: "bert.embeddings.word_embeddings",
    positions: "bert.embeddings.position_embeddings",
    types: "bert.embeddings.token_type_embeddings",
    norm: "bert.embeddings.LayerNorm",
    layers: "bert.encoder.layer",
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    output: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    factor: "",
    down: "output.dense",
    network_norm: "output.LayerNorm",
};
