//! MPNet (Song et al. 2020): RoBERTa without token types, with a relative position bias. `all-mpnet-base-v2` is one.

use super::{Class, Family, Part, bert};
use crate::config::Config;
use crate::encoder::{Dense, Encoder, EncoderNames, Pooling, SequenceHead};
use crate::{CheckpointError, Relative};

pub const FAMILY: Family = Family {
    architectures: &[
        ("MPNetModel", Part::Bare),
        ("MPNetForMaskedLM", Part::Bare),
        ("MPNetForSequenceClassification", Part::Sequence),
        ("MPNetForTokenClassification", Part::Tokens),
    ],
    keys: &[],
    class: Class {
        names: EncoderNames {
            tokens: "mpnet.embeddings.word_embeddings",
            positions: "mpnet.embeddings.position_embeddings",
            types: "",
            norm: "mpnet.embeddings.LayerNorm",
            layers: "mpnet.encoder.layer",
            query: "attention.attn.q",
            key: "attention.attn.k",
            value: "attention.attn.v",
            output: "attention.attn.o",
            attention_norm: "attention.LayerNorm",
            ..bert::NAMES
        },
        sequence: SequenceHead {
            pooling: Pooling::Cls,
            dense: Dense::tanh("classifier.dense"),
            output: "classifier.out_proj",
        },
        tokens: "classifier",
        adapt: Some(adapt),
        epsilon: 1e-12,
        depth: None,
        positions: None,
        types: 0,
        begins_behind_padding: true,
        unused: &["lm_head.", "mpnet.pooler.", "pooler."],
    },
};

/// The class computes with 32 buckets, whatever the configuration says.
const BUCKETS: usize = 32;

fn adapt(encoder: &mut Encoder, config: &Config) -> Result<(), CheckpointError> {
    const KEY: &str = "relative_attention_num_buckets";
    if config.optional_size(KEY)?.is_some_and(|buckets| buckets != BUCKETS) {
        return Err(config.unsupported(KEY, "32"));
    }
    let table = "mpnet.encoder.relative_attention_bias.weight";
    encoder.relative = Some(Relative { table, buckets: BUCKETS, farthest: 128 });
    Ok(())
}
