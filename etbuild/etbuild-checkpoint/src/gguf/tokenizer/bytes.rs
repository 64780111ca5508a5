//! Tokenizers of bytes (Radford et al. 2019): a list of merges.

use serde_json::{Map, Value, json};

use super::splits::{self, Splits};
use super::{Vocabulary, texts, unsupported};
use crate::CheckpointError;
use crate::gguf::Gguf;

/// The key of how texts are split into words.
const PRE: &str = "tokenizer.ggml.pre";

/// The parts of `tokenizer.json`, and whether texts begin with a token where the metadata does not say so.
pub fn parts(file: &Gguf<'_>, vocabulary: &Vocabulary<'_>) -> Result<(Map<String, Value>, bool), CheckpointError> {
    let name = file.metadata.text(PRE).unwrap_or("default");
    let Splits { steps, ignores_merges, begins, is_composed, .. } =
        splits::find(name).ok_or_else(|| unsupported(file, PRE, splits::known()))?;
    let step = |pattern: &&str| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
    let steps: Vec<Value> = steps.iter().map(step).chain([bytes.clone()]).collect();
    let model = json!({
        "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
        "fuse_unk": false, "byte_fallback": false, "ignore_merges": ignores_merges,
        "vocab": vocabulary.map(), "merges": texts(file, "tokenizer.ggml.merges")?,
    });
    let parts = [
        ("normalizer", if *is_composed { json!({"type": "NFC"}) } else { Value::Null }),
        ("pre_tokenizer", json!({"type": "Sequence", "pretokenizers": steps})),
        ("decoder", bytes),
        ("model", model),
    ];
    Ok((parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(), *begins))
}
