//! Models with encoders of pictures or sound that etbuild lacks: the decoder answers texts.

use super::vision::{Sizes, nested};
use super::{Family, gemma3n};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Gemma3nForConditionalGeneration"], keys: &[], describe };

/// The decoders by `model_type`, with the sizes of their configuration classes.
const TEXTS: &[(&str, &Family, Sizes)] = &[("gemma3n_text", &gemma3n::FAMILY, GEMMA3N)];

/// `Gemma3nTextConfig`.
const GEMMA3N: Sizes = &[
    ("vocab_size", 262_400),
    ("hidden_size", 2048),
    ("intermediate_size", 16_384),
    ("num_hidden_layers", 35),
    ("num_attention_heads", 8),
];

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    Ok(Decoder { is_for_texts: true, ..nested(config, TEXTS)? })
}
