//! Tokenizers of pieces with scores (SentencePiece).

use serde_json::{Map, Value, json};

use super::{mistake, texts};
use crate::CheckpointError;
use crate::gguf::Gguf;
use crate::tokenizer::{SPACE, Vocabulary, merged_model, piece_decoder, piece_model};

/// The key of the scores.
const SCORES: &str = "tokenizer.ggml.scores";

/// The parts of `tokenizer.json`.
pub fn parts(file: &Gguf<'_>, vocabulary: &Vocabulary<'_>) -> Result<Map<String, Value>, CheckpointError> {
    let scores = file.metadata.list(SCORES).ok_or_else(|| mistake(SCORES, "is missing"))?;
    let scores: Vec<f64> = scores.iter().map(|score| score.as_f64().unwrap_or(0.0)).collect();
    Ok(parts_of(file, piece_model(vocabulary, &scores)))
}

/// The same of a tokenizer with a list of merges (Gemma 4).
pub fn merged(file: &Gguf<'_>, vocabulary: &Vocabulary<'_>) -> Result<Map<String, Value>, CheckpointError> {
    let merges = Value::from(texts(file, "tokenizer.ggml.merges")?);
    Ok(parts_of(file, merged_model(vocabulary, merges)))
}

fn parts_of(file: &Gguf<'_>, model: Value) -> Map<String, Value> {
    let begins = file.metadata.flag("tokenizer.ggml.add_space_prefix").unwrap_or(true);
    let spaces = json!({"type": "Replace", "pattern": {"String": " "}, "content": SPACE.to_string()});
    let prefix = begins.then(|| json!({"type": "Prepend", "prepend": SPACE.to_string()}));
    let normalizers: Vec<Value> = prefix.into_iter().chain([spaces]).collect();
    let parts = [
        ("normalizer", json!({"type": "Sequence", "normalizers": normalizers})),
        ("pre_tokenizer", Value::Null),
        ("decoder", piece_decoder(begins)),
        ("model", model),
    ];
    parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
