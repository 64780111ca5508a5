//! The named data of an encoder's program file: the tokenizer, and the facts about texts.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::CheckpointError;
use crate::embedder::{has_embedder, read_embedder};
use crate::encoder::{Encoding, Scores, Task, describe_encoder};
use crate::texts::{TOKENIZER, Texts};

/// Reads the named data from the files of a checkpoint, by name. The facts are lines of a word and a text, such as `task embedding`.
///
/// # Errors
/// As [`describe_encoder`], or for a decoder for embeddings as [`read_embedder`]; a tokenizer that is no JSON.
pub fn read_encoder_texts(files: &BTreeMap<String, &[u8]>, encoding: &Encoding) -> Result<Texts, CheckpointError> {
    let tokenizer = files.get(TOKENIZER).map(|bytes| bytes.to_vec());
    if let Some(bytes) = &tokenizer {
        let read: Result<Value, _> = serde_json::from_slice(bytes);
        read.map_err(|error| CheckpointError::Json { file: TOKENIZER, reason: error.to_string() })?;
    }
    let facts = if has_embedder(files) {
        let (decoder, embedding) = read_embedder(files, encoding)?;
        facts((Task::Embedding, Scores::Plain), [embedding.max_tokens as usize, decoder.vocabulary], &[])
    } else {
        let encoder = describe_encoder(files, encoding)?;
        facts((encoder.task(), encoder.scores), [encoder.max_tokens, encoder.vocabulary], &encoder.labels)
    };
    Ok(Texts { tokenizer, chat: None, generation: facts.into_bytes() })
}

fn facts((task, scores): (Task, Scores), [max_tokens, vocabulary]: [usize; 2], labels: &[String]) -> String {
    let mut facts = format!("task {}\nmax_tokens {max_tokens}\n", task.name());
    let _ = writeln!(facts, "vocabulary {vocabulary}\nscores {}", scores.name());
    for label in labels {
        let _ = writeln!(facts, "label {}", label.replace(['\n', '\r'], " "));
    }
    facts
}
