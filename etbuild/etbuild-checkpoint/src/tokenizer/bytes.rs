//! Tokenizers of bytes (Radford et al. 2019).

use serde_json::{Value, json};

/// The expression that splits texts into words for Qwen 2 and later.
pub const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The parts of `tokenizer.json`: texts are split by regular expressions, each over the pieces of the one before, and
/// merges make tokens of the bytes of a piece. `ignores_merges` says that a piece that is a token is one without merges.
pub fn byte_parts(
    steps: &[&str],
    ignores_merges: bool,
    vocabulary: Value,
    merges: Value,
) -> [(&'static str, Value); 3] {
    let step = |pattern: &&str| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
    let steps: Vec<Value> = steps.iter().map(step).chain([bytes.clone()]).collect();
    let model = json!({
        "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
        "fuse_unk": false, "byte_fallback": false, "ignore_merges": ignores_merges, "vocab": vocabulary, "merges": merges,
    });
    [("pre_tokenizer", json!({"type": "Sequence", "pretokenizers": steps})), ("decoder", bytes), ("model", model)]
}
