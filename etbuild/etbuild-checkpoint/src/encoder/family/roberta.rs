//! RoBERTa (Liu et al. 2019), XLM-RoBERTa and CamemBERT: BERT whose positions begin behind the padding token.

use super::{Class, Family, Part, bert};
use crate::encoder::{Dense, EncoderNames, Pooling, SequenceHead};

pub const FAMILY: Family = Family {
    architectures: &[
        ("RobertaModel", Part::Bare),
        ("RobertaForMaskedLM", Part::Bare),
        ("RobertaForSequenceClassification", Part::Sequence),
        ("RobertaForTokenClassification", Part::Tokens),
        ("XLMRobertaModel", Part::Bare),
        ("XLMRobertaForMaskedLM", Part::Bare),
        ("XLMRobertaForSequenceClassification", Part::Sequence),
        ("XLMRobertaForTokenClassification", Part::Tokens),
        ("CamembertModel", Part::Bare),
        ("CamembertForMaskedLM", Part::Bare),
        ("CamembertForSequenceClassification", Part::Sequence),
        ("CamembertForTokenClassification", Part::Tokens),
    ],
    keys: &[],
    class: Class {
        names: EncoderNames {
            tokens: "roberta.embeddings.word_embeddings",
            positions: "roberta.embeddings.position_embeddings",
            types: "roberta.embeddings.token_type_embeddings",
            norm: "roberta.embeddings.LayerNorm",
            layers: "roberta.encoder.layer",
            ..bert::NAMES
        },
        sequence: SequenceHead {
            pooling: Pooling::Cls,
            dense: Dense::tanh("classifier.dense"),
            output: "classifier.out_proj",
        },
        tokens: "classifier",
        adapt: None,
        epsilon: 1e-12,
        depth: None,
        positions: None,
        types: 2,
        begins_behind_padding: true,
        unused: &["lm_head.", "roberta.pooler.", "pooler."],
    },
};
