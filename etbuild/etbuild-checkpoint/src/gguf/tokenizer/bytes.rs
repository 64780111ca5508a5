//! Tokenizers of bytes (Radford et al. 2019): a list of merges.

use serde_json::{Map, Value, json};

use super::splits::{self, Splits};
use super::{texts, unsupported};
use crate::CheckpointError;
use crate::gguf::Gguf;
use crate::tokenizer::{Vocabulary, byte_parts};

/// The key of how texts are split into words.
const PRE: &str = "tokenizer.ggml.pre";

/// The parts of `tokenizer.json`, and whether texts begin with a token where the metadata does not say so.
pub fn parts(file: &Gguf<'_>, vocabulary: &Vocabulary<'_>) -> Result<(Map<String, Value>, bool), CheckpointError> {
    let name = file.metadata.text(PRE).unwrap_or("default");
    let Splits { steps, ignores_merges, begins, is_composed, .. } =
        splits::find(name).ok_or_else(|| unsupported(file, PRE, splits::known()))?;
    let merges = Value::from(texts(file, "tokenizer.ggml.merges")?);
    let normalizer = ("normalizer", if *is_composed { json!({"type": "NFC"}) } else { Value::Null });
    let parts = byte_parts(steps, *ignores_merges, vocabulary.map(), merges).into_iter().chain([normalizer]);
    Ok((parts.map(|(key, value)| (key.to_owned(), value)).collect(), *begins))
}
