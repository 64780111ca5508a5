//! `text:`.

use std::num::NonZero;

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

/// Texts of an encoder, such as BERT.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextOptions {
    /// How the hidden states of a text become an embedding. If omitted, as the files of `sentence-transformers` in the checkpoint say;
    /// `mean` without these files.
    #[serde(default)]
    pub pooling: Option<Spanned<Pooling>>,
    /// Whether embeddings have the length 1. If omitted, as the files of `sentence-transformers` in the checkpoint say; `false` without
    /// these files.
    #[serde(default)]
    pub normalize: Option<Spanned<bool>>,
    /// The most tokens of a text; further tokens are cut off. If omitted, as the checkpoint says.
    #[serde(default)]
    pub max_tokens: Option<Spanned<NonZero<u32>>>,
}

/// How the hidden states of a text become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token.
    Cls,
    /// The largest value of each element.
    Max,
    /// The last token.
    Last,
}
