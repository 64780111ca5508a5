//! The named data of an encoder's program file: the tokenizer, and the facts about texts.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::{Encoding, describe_encoder};
use crate::CheckpointError;
use crate::texts::{TOKENIZER, Texts};

/// Reads the named data from the files of a checkpoint, by name. The facts are lines of a word and a text, such as `task embedding`.
///
/// # Errors
/// As [`describe_encoder`]; a tokenizer that is no JSON.
pub fn read_encoder_texts(files: &BTreeMap<String, &[u8]>, encoding: &Encoding) -> Result<Texts, CheckpointError> {
    let encoder = describe_encoder(files, encoding)?;
    let tokenizer = files.get(TOKENIZER).map(|bytes| bytes.to_vec());
    if let Some(bytes) = &tokenizer {
        let read: Result<Value, _> = serde_json::from_slice(bytes);
        read.map_err(|error| CheckpointError::Json { file: TOKENIZER, reason: error.to_string() })?;
    }
    let mut facts = format!("task {}\nmax_tokens {}\n", encoder.task().name(), encoder.max_tokens);
    let _ = writeln!(facts, "vocabulary {}\nscores {}", encoder.vocabulary, encoder.scores.name());
    for label in &encoder.labels {
        let _ = writeln!(facts, "label {}", label.replace(['\n', '\r'], " "));
    }
    Ok(Texts { tokenizer, chat: None, generation: facts.into_bytes() })
}
