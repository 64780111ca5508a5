//! The tokenizer of a GGUF file in the form of Hugging Face's `tokenizer.json`, the chat template, and the tokens that end a text.

mod bytes;
mod pieces;
mod splits;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{Gguf, METADATA, TOKENS};
use crate::CheckpointError;
use crate::texts::{GENERATION, TOKENIZER, TOKENIZER_CONFIG};
use crate::tokenizer::{Role, Vocabulary, around};

/// The vocabulary of a file.
fn vocabulary<'f>(file: &'f Gguf<'_>) -> Result<Vocabulary<'f>, CheckpointError> {
    let texts = texts(file, TOKENS)?;
    let roles = file.metadata.list("tokenizer.ggml.token_type").unwrap_or_default();
    let roles = roles.iter().map(|role| Role::of(role.as_u64().unwrap_or(1)));
    let roles = roles.chain(std::iter::repeat(Role::Normal)).take(texts.len()).collect();
    Ok(Vocabulary { texts, roles })
}

/// The texts of a list.
fn texts<'f>(file: &'f Gguf<'_>, key: &str) -> Result<Vec<&'f str>, CheckpointError> {
    let list = file.metadata.list(key).ok_or_else(|| mistake(key, "is missing"))?;
    let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    texts.ok_or_else(|| mistake(key, "is not a list of texts"))
}

fn mistake(key: &str, reason: &str) -> CheckpointError {
    CheckpointError::Key { file: METADATA, key: key.to_owned(), reason: reason.to_owned() }
}

fn unsupported(file: &Gguf<'_>, key: &str, supported: impl Into<String>) -> CheckpointError {
    let value = file.metadata.get(key).map_or_else(|| "null".to_owned(), Value::to_string);
    CheckpointError::Unsupported { file: METADATA, key: key.to_owned(), value, supported: supported.into() }
}

/// The files about texts, by name: none without a tokenizer.
pub fn files(file: &Gguf<'_>) -> Result<BTreeMap<String, Vec<u8>>, CheckpointError> {
    if file.metadata.get(MODEL).is_none() {
        return Ok(BTreeMap::new());
    }
    let vocabulary = vocabulary(file)?;
    let tokenizer = match file.metadata.text("tokenizer.huggingface.json") {
        Some(own) => own.as_bytes().to_vec(),
        None => tokenizer(file, &vocabulary)?.to_string().into_bytes(),
    };
    let stops = json!({"eos_token_id": stops(file, &vocabulary)}).to_string().into_bytes();
    let files = [(TOKENIZER, tokenizer), (TOKENIZER_CONFIG, chat(file, &vocabulary)), (GENERATION, stops)];
    Ok(files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect())
}

/// The key of the kind of tokenizer.
const MODEL: &str = "tokenizer.ggml.model";

fn tokenizer(file: &Gguf<'_>, vocabulary: &Vocabulary<'_>) -> Result<Value, CheckpointError> {
    let (mut parts, begins) = match file.metadata.text(MODEL) {
        Some("gpt2") => bytes::parts(file, vocabulary)?,
        Some("llama") => (pieces::parts(file, vocabulary)?, true),
        Some("gemma4") => (pieces::merged(file, vocabulary)?, true),
        _ => return Err(unsupported(file, MODEL, "`gemma4`, `gpt2`, `llama`")),
    };
    let flag = |key: &str, default| file.metadata.flag(key).unwrap_or(default);
    let [first, last] = [
        flag("tokenizer.ggml.add_bos_token", begins).then_some("tokenizer.ggml.bos_token_id"),
        flag("tokenizer.ggml.add_eos_token", false).then_some("tokenizer.ggml.eos_token_id"),
    ]
    .map(|key| key.and_then(|key| token(file, vocabulary, key)));
    parts.insert("version".to_owned(), "1.0".into());
    parts.insert("added_tokens".to_owned(), vocabulary.added().into());
    parts.insert("post_processor".to_owned(), around(first, last));
    Ok(Value::Object(parts))
}

/// The token of a key with the text.
fn token<'f>(file: &Gguf<'_>, vocabulary: &Vocabulary<'f>, key: &str) -> Option<(u64, &'f str)> {
    let token = file.metadata.count(key)?;
    Some((token, vocabulary.text(token)?))
}

/// The chat template with the tokens that templates name, as the contents of `tokenizer_config.json`.
fn chat(file: &Gguf<'_>, vocabulary: &Vocabulary<'_>) -> Vec<u8> {
    let named = [
        ("bos_token", "tokenizer.ggml.bos_token_id"),
        ("eos_token", "tokenizer.ggml.eos_token_id"),
        ("pad_token", "tokenizer.ggml.padding_token_id"),
        ("unk_token", "tokenizer.ggml.unknown_token_id"),
    ];
    let tokens =
        named.iter().filter_map(|(name, key)| Some(((*name).to_owned(), token(file, vocabulary, key)?.1.into())));
    let mut chat: Map<String, Value> = tokens.collect();
    let template = file.metadata.text("tokenizer.chat_template");
    chat.extend(template.map(|template| ("chat_template".to_owned(), template.into())));
    Value::Object(chat).to_string().into_bytes()
}

/// The texts of tokens that end an answer, whatever the metadata says.
const ENDS: &[&str] = &[
    "<|eot_id|>",
    "<|eom_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|user|>",
    "<turn|>",
];

/// The tokens that end a text.
fn stops(file: &Gguf<'_>, vocabulary: &Vocabulary<'_>) -> Vec<u64> {
    let keys = ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"];
    let stated = keys.iter().filter_map(|key| file.metadata.count(key));
    let known = vocabulary.tokens().filter(|(_, text, role)| *role == Role::Control && ENDS.contains(text));
    let all: BTreeSet<u64> = stated.chain(known.map(|(token, ..)| token as u64)).collect();
    all.into_iter().collect()
}
