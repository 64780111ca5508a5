//! RoBERTa (Liu et al. 2019), XLM-RoBERTa and CamemBERT: BERT whose positions begin behind the padding token.

use super::conventions::{self, Class, Part};
use super::{Family, bert};
use crate::CheckpointError;
use crate::config::Config;
use crate::encoder::{Encoder, EncoderNames, SequenceHead};

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
    describe,
};

const CLASS: Class = Class {
    names: EncoderNames {
        tokens: "roberta.embeddings.word_embeddings",
        positions: "roberta.embeddings.position_embeddings",
        types: "roberta.embeddings.token_type_embeddings",
        norm: "roberta.embeddings.LayerNorm",
        layers: "roberta.encoder.layer",
        ..bert::NAMES
    },
    sequence: SequenceHead { dense: "classifier.dense", is_relu: false, output: "classifier.out_proj" },
    tokens: "classifier",
    epsilon: 1e-12,
    types: 2,
    unused: &["lm_head.", "roberta.pooler.", "pooler."],
};

fn describe(config: &Config, part: Part) -> Result<Encoder, CheckpointError> {
    let mut encoder = conventions::encoder(config, &CLASS, part)?;
    // The table has rows for the padding token and the tokens ahead.
    let first = config.optional_count("pad_token_id")?.unwrap_or(1) + 1;
    if first >= encoder.positions {
        return Err(
            config.mistake("max_position_embeddings", format!("is not more than the {first} rows that no token has"))
        );
    }
    encoder.first_position = first;
    encoder.positions -= first;
    Ok(encoder)
}
