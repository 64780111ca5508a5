//! DistilBERT (Sanh et al. 2019): BERT without token types and pooler.

use super::{Class, Family, Part};
use crate::Activation;
use crate::encoder::{Dense, EncoderNames, Pooling, SequenceHead};

pub const FAMILY: Family = Family {
    architectures: &[
        ("DistilBertModel", Part::Bare),
        ("DistilBertForMaskedLM", Part::Bare),
        ("DistilBertForSequenceClassification", Part::Sequence),
        ("DistilBertForTokenClassification", Part::Tokens),
    ],
    keys: &[
        ("hidden_size", "dim"),
        ("num_attention_heads", "n_heads"),
        ("num_hidden_layers", "n_layers"),
        ("intermediate_size", "hidden_dim"),
        ("hidden_act", "activation"),
    ],
    class: Class {
        names: EncoderNames {
            tokens: "distilbert.embeddings.word_embeddings",
            positions: "distilbert.embeddings.position_embeddings",
            types: "",
            norm: "distilbert.embeddings.LayerNorm",
            layers: "distilbert.transformer.layer",
            query: "attention.q_lin",
            key: "attention.k_lin",
            value: "attention.v_lin",
            output: "attention.out_lin",
            attention_norm: "sa_layer_norm",
            up: "ffn.lin1",
            factor: "",
            down: "ffn.lin2",
            network_norm: "output_layer_norm",
        },
        sequence: SequenceHead {
            pooling: Pooling::Cls,
            dense: Dense { activation: Some(Activation::Relu), ..Dense::tanh("pre_classifier") },
            output: "classifier",
        },
        tokens: "classifier",
        adapt: None,
        epsilon: 1e-12,
        depth: None,
        positions: None,
        types: 0,
        begins_behind_padding: false,
        unused: &["vocab_transform.", "vocab_layer_norm.", "vocab_projector."],
    },
};
