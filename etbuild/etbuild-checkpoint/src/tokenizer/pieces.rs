//! Tokenizers of pieces with scores (SentencePiece): of two neighbours, those merge first whose union has the highest score.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::vocabulary::{Role, SPACE, Vocabulary};

/// The longest piece that is split, in characters: longer pieces are runs of one character.
const LONGEST: usize = 64;

/// The model of a vocabulary with a score for each token.
pub fn piece_model(vocabulary: &Vocabulary<'_>, scores: &[f64]) -> Value {
    merged_model(vocabulary, merges(vocabulary, scores).into())
}

/// The model of pieces that these merges make.
pub fn merged_model(vocabulary: &Vocabulary<'_>, merges: Value) -> Value {
    let unknown = vocabulary.tokens().find(|(_, _, role)| *role == Role::Unknown).map(|(_, text, _)| text);
    json!({
        "type": "BPE", "dropout": null, "unk_token": unknown, "continuing_subword_prefix": null, "end_of_word_suffix": null,
        "fuse_unk": true, "byte_fallback": vocabulary.roles.contains(&Role::Byte), "ignore_merges": false,
        "vocab": vocabulary.map(), "merges": merges,
    })
}

/// The decoder of pieces and bytes; a text that begins with a space of the tokenizer loses this space.
pub fn piece_decoder(begins: bool) -> Value {
    let plain = json!({"type": "Replace", "pattern": {"String": SPACE.to_string()}, "content": " "});
    let strip = begins.then(|| json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    let decoders = [plain, json!({"type": "ByteFallback"}), json!({"type": "Fuse"})];
    let decoders: Vec<Value> = decoders.into_iter().chain(strip).collect();
    json!({"type": "Sequence", "decoders": decoders})
}

/// A merge with what decides about the order.
struct Merge<'f> {
    score: f64,
    left: &'f str,
    right: &'f str,
    order: [usize; 2],
}

/// The merges: all ways to make a token of two, the highest score first.
fn merges(vocabulary: &Vocabulary<'_>, scores: &[f64]) -> Vec<Value> {
    let pieces = || vocabulary.tokens().filter(|(_, _, role)| matches!(role, Role::Normal | Role::UserDefined));
    let known: BTreeMap<&str, usize> = pieces().map(|(token, text, _)| (text, token)).collect();
    let mut merges = Vec::new();
    for (token, text, _) in pieces() {
        let score = scores.get(token).copied().unwrap_or(0.0);
        let first = merges.len();
        for (at, _) in text.char_indices().skip(1).take(LONGEST) {
            let (left, right) = text.split_at(at);
            if let (Some(of_left), Some(of_right)) = (known.get(left), known.get(right)) {
                merges.push(Merge { score, left, right, order: [*of_left, *of_right] });
            }
        }
        merges.get_mut(first..).unwrap_or_default().sort_by_key(|merge| merge.order);
    }
    let length = |text: &str| text.chars().count();
    merges.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        let by_length = || (length(other.left), length(other.right)).cmp(&(length(one.left), length(one.right)));
        by_score.then_with(by_length)
    });
    merges.iter().map(|merge| json!([merge.left, merge.right])).collect()
}
