//! CLIP's tokenizer of `vocab.json` and `merges.txt`: byte-level BPE over lower-case words, whose last token ends with `</w>`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{MERGES, SPECIAL_TOKENS, TOKENIZER, TOKENIZER_CONFIG, VOCABULARY, optional, token_text};
use crate::CheckpointError;

/// The words of a text: special tokens, contractions, letters, single digits, and other signs.
const WORDS: &str = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";
const FIRST: &str = "<|startoftext|>";
const LAST: &str = "<|endoftext|>";

/// The text of a special token, such as `pad_token`.
///
/// # Errors
/// Malformed files.
pub fn special(files: &BTreeMap<String, &[u8]>, key: &str) -> Result<String, CheckpointError> {
    for name in [TOKENIZER_CONFIG, SPECIAL_TOKENS] {
        let config = optional(files, name)?;
        if let Some(text) = config.as_ref().and_then(|config| config.value(key)).and_then(token_text) {
            return Ok(text.to_owned());
        }
    }
    Ok(if key == "bos_token" { FIRST } else { LAST }.to_owned())
}

/// The tokenizer in the form of `tokenizer.json`, as `transformers` makes it.
///
/// # Errors
/// Missing and malformed files; special tokens that the vocabulary lacks.
pub fn tokenizer(files: &BTreeMap<String, &[u8]>) -> Result<Vec<u8>, CheckpointError> {
    let file = |name| files.get(name).copied();
    let (Some(vocabulary), Some(merges)) = (file(VOCABULARY), file(MERGES)) else {
        return Err(CheckpointError::FileMissing(TOKENIZER));
    };
    let malformed = |file, reason: String| CheckpointError::Json { file, reason };
    let vocabulary: Map<String, Value> =
        serde_json::from_slice(vocabulary).map_err(|error| malformed(VOCABULARY, error.to_string()))?;
    let merges = std::str::from_utf8(merges).map_err(|error| malformed(MERGES, error.to_string()))?;
    let [first, last, unknown] = ["bos_token", "eos_token", "unk_token"].map(|key| special(files, key));
    let (first, last, unknown) = (first?, last?, unknown?);
    let id = |token: &str| {
        let missing = || malformed(VOCABULARY, format!("the token `{token}` is missing"));
        vocabulary.get(token).cloned().ok_or_else(missing)
    };
    let (first_id, last_id) = (id(&first)?, id(&last)?);
    let added = |token: &str, id: &Value| json!({ "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true });
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [added(&first, &first_id), added(&last, &last_id)],
        "normalizer": { "type": "Sequence", "normalizers": [
            { "type": "NFC" },
            { "type": "Replace", "pattern": { "Regex": r"\s+" }, "content": " " },
            { "type": "Lowercase" },
        ] },
        "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
            { "type": "Split", "pattern": { "Regex": WORDS }, "behavior": "Removed", "invert": true },
            { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true },
        ] },
        "post_processor": {
            "type": "RobertaProcessing", "sep": [last, last_id], "cls": [first, first_id], "trim_offsets": false, "add_prefix_space": false,
        },
        "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true },
        "model": {
            "type": "BPE", "dropout": null, "unk_token": unknown, "continuing_subword_prefix": "", "end_of_word_suffix": "</w>",
            "fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": vocabulary, "merges": pairs(merges),
        },
    });
    Ok(tokenizer.to_string().into_bytes())
}

/// The pairs of tokens that become one, a line each behind the version.
fn pairs(merges: &str) -> Vec<[&str; 2]> {
    let lines = merges.lines().filter(|line| !line.starts_with("#version"));
    lines.filter_map(|line| line.trim_end().split_once(' ')).map(|(left, right)| [left, right]).collect()
}
