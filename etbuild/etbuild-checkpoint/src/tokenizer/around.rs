//! The tokens ahead of a text and behind a text.

use serde_json::{Map, Value, json};

/// The post-processor that adds the tokens, each a number with the text.
pub fn around(first: Option<(u64, &str)>, last: Option<(u64, &str)>) -> Value {
    let special = |(_, text): (u64, &str)| json!({"SpecialToken": {"id": text, "type_id": 0}});
    let sequence = |name: &str| json!({"Sequence": {"id": name, "type_id": 0}});
    let parts = |name: &str| first.map(special).into_iter().chain([sequence(name)]).chain(last.map(special)).collect();
    let (single, second): (Vec<Value>, Vec<Value>) = (parts("A"), parts("B"));
    let tokens = first.into_iter().chain(last);
    let tokens = tokens.map(|(token, text)| (text.to_owned(), json!({"id": text, "ids": [token], "tokens": [text]})));
    let tokens: Map<String, Value> = tokens.collect();
    let pair: Vec<Value> = single.iter().cloned().chain(second).collect();
    json!({"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens})
}
