//! `tekken.json`, Mistral's tokenizer: the bytes of the tokens by rank, as in tiktoken, behind the special tokens.
//!
//! The numbers of tokens and the special tokens of files without a list follow `mistral_common` (`Tekkenizer`). A special token in a text is
//! read as such, as `transformers` reads it, which chat templates need; `mistral_common` reads such a text as letters.

use std::collections::BTreeMap;

use et_module::base64::decode;
use et_module::byte_letter;
use serde_json::{Map, Value, json};

use super::vocabulary::added_token;
use super::{Made, around, byte_parts, mistral};
use crate::CheckpointError;
use crate::config::Config;
use crate::texts::{TEMPLATE_KEY, token_text};

/// The special tokens of files without a list: those of the versions up to 7.
const SPECIAL: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];

/// The tokens that templates name.
const NAMED: [(&str, &str); 4] =
    [("bos_token", "<s>"), ("eos_token", "</s>"), ("pad_token", "<pad>"), ("unk_token", "<unk>")];

/// The most tokens: no model has more, and a damaged file may state any number.
const MOST: usize = 1 << 22;

/// The most bytes of a token: every cut of a token is tried, and no model has longer tokens.
const LONGEST: usize = 1 << 10;

/// The tokenizer of a file.
pub fn tokenizer(file: &'static str, bytes: &[u8], _: &Config, stated: &Config) -> Result<Made, CheckpointError> {
    let contents = Config::parse_file(file, bytes)?;
    let config = contents.optional_map("config")?.ok_or_else(|| contents.mistake("config", "is missing"))?;
    let pattern = config.optional_text("pattern")?.ok_or_else(|| config.mistake("pattern", "is missing"))?;
    let special = special(&contents, &config)?;
    let count = config.optional_tokens("default_vocab_size")?.map(|all| all.saturating_sub(special.len()));
    let ranks = ranks(&contents, count.unwrap_or(MOST))?;
    let mut vocabulary: Map<String, Value> =
        ranks.iter().map(|(bytes, rank)| (letters(bytes), json!(rank + special.len()))).collect();
    if special.iter().any(|text| vocabulary.contains_key(text)) {
        return Err(contents.mistake("vocab", "has a token with the text of a special token"));
    }
    vocabulary.extend(special.iter().enumerate().map(|(token, text)| (text.clone(), token.into())));
    let added: Vec<Value> =
        special.iter().enumerate().map(|(token, text)| added_token(token, text, false, true)).collect();
    let mut named = named(stated);
    let token = |key: &str| {
        let (_, text) = named.iter().find(|(name, _)| *name == key)?;
        Some((special.iter().position(|known| known == text)? as u64, text.as_str()))
    };
    let first = stated.flag_or("add_bos_token", true)?.then(|| token("bos_token")).flatten();
    let last = stated.flag("add_eos_token")?.then(|| token("eos_token")).flatten();
    let parts = byte_parts(&[&pattern], true, Value::Object(vocabulary), merges(&ranks).into());
    let mut tokenizer: Map<String, Value> = parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    tokenizer.insert("version".to_owned(), "1.0".into());
    tokenizer.insert("added_tokens".to_owned(), added.into());
    tokenizer.insert("post_processor".to_owned(), around(first, last));
    let template = config.optional_text("version")?.and_then(|version| mistral::template(&version));
    named.extend(template.map(|template| (TEMPLATE_KEY, template)));
    Ok(Made { tokenizer: Value::Object(tokenizer), named })
}

/// The special tokens by number: those of the list, and names for the rest.
fn special(contents: &Config, config: &Config) -> Result<Vec<String>, CheckpointError> {
    const KEY: &str = "special_tokens";
    let wrong = || contents.mistake(KEY, "is no list of tokens with the ranks 0, 1, ...");
    let mut special: Vec<String> = match contents.value(KEY) {
        None => SPECIAL.map(str::to_owned).to_vec(),
        Some(list) => {
            let entry = |entry: &Value| {
                Some((
                    usize::try_from(entry.get("rank")?.as_u64()?).ok()?,
                    entry.get("token_str")?.as_str()?.to_owned(),
                ))
            };
            let entries = list.as_array().and_then(|list| list.iter().map(entry).collect::<Option<BTreeMap<_, _>>>());
            let entries = entries.ok_or_else(wrong)?;
            let is_complete = list.as_array().is_some_and(|list| list.len() == entries.len());
            if !is_complete || entries.keys().copied().ne(0..entries.len()) {
                return Err(wrong());
            }
            entries.into_values().collect()
        }
    };
    let count = config.optional_tokens("default_num_special_tokens")?.unwrap_or(special.len());
    if count < special.len() || count > MOST {
        return Err(config.mistake("default_num_special_tokens", "is no number of tokens from that of the list on"));
    }
    special.extend((special.len()..count).map(|token| format!("<SPECIAL_{token}>")));
    Ok(special)
}

/// The first `count` tokens that are not special, by bytes, with the rank.
fn ranks(contents: &Config, count: usize) -> Result<BTreeMap<Vec<u8>, usize>, CheckpointError> {
    const KEY: &str = "vocab";
    let wrong = || contents.mistake(KEY, "is no list of tokens with `token_bytes` in base64");
    let list = contents.value(KEY).and_then(Value::as_array).ok_or_else(wrong)?;
    let bytes = |entry: &Value| decode(entry.get("token_bytes")?.as_str()?);
    let tokens = list.iter().take(count).enumerate().map(|(rank, entry)| Some((bytes(entry)?, rank)));
    let ranks = tokens.collect::<Option<BTreeMap<_, _>>>().ok_or_else(wrong)?;
    if ranks.keys().any(|bytes| bytes.len() > LONGEST) {
        return Err(contents.mistake(KEY, "has a token of more than 1024 bytes"));
    }
    let is_distinct = ranks.len() == list.len().min(count);
    if is_distinct { Ok(ranks) } else { Err(contents.mistake(KEY, "has two tokens of the same bytes")) }
}

/// The text of bytes in tokenizers of bytes.
fn letters(bytes: &[u8]) -> String {
    bytes.iter().copied().map(byte_letter).collect()
}

/// The merges: all ways to make a token of two, the lowest rank first.
fn merges(ranks: &BTreeMap<Vec<u8>, usize>) -> Vec<Value> {
    let mut merges = Vec::new();
    for (bytes, rank) in ranks {
        for at in 1..bytes.len() {
            let (left, right) = bytes.split_at(at);
            if let (Some(of_left), Some(of_right)) = (ranks.get(left), ranks.get(right)) {
                merges.push(([*rank, *of_left, *of_right], left, right));
            }
        }
    }
    merges.sort_unstable();
    merges.into_iter().map(|(_, left, right)| json!([letters(left), letters(right)])).collect()
}

/// The texts of the tokens that templates name: those of the configuration, else the usual.
fn named(stated: &Config) -> Vec<(&'static str, String)> {
    let text = |key: &str, usual: &str| stated.value(key).and_then(token_text).unwrap_or(usual).to_owned();
    NAMED.into_iter().map(|(key, usual)| (key, text(key, usual))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"config": {"pattern": "\\w+|\\W", "default_vocab_size": 8, "default_num_special_tokens": 4},
        "vocab": [{"rank": 0, "token_bytes": "YQ=="}, {"rank": 1, "token_bytes": "IA=="}, {"rank": 2, "token_bytes": "IGE="},
            {"rank": 3, "token_bytes": "YWE="}, {"rank": 4, "token_bytes": "YmI="}],
        "special_tokens": [{"rank": 1, "token_str": "<s>"}, {"rank": 0, "token_str": "<unk>"}]}"#;

    fn made(file: &str) -> Result<Made, CheckpointError> {
        let empty = Config::parse(b"{}").unwrap();
        tokenizer("tekken.json", file.as_bytes(), &empty, &empty)
    }

    #[test]
    fn special_tokens_are_ahead_of_the_ranks_and_padding_is_left_out() {
        let Made { tokenizer, named } = made(FILE).unwrap();
        let vocabulary =
            json!({"<unk>": 0, "<s>": 1, "<SPECIAL_2>": 2, "<SPECIAL_3>": 3, "a": 4, "Ġ": 5, "Ġa": 6, "aa": 7});
        assert_eq!(tokenizer["model"]["vocab"], vocabulary);
        assert_eq!(tokenizer["model"]["merges"], json!([["Ġ", "a"], ["a", "a"]]));
        assert_eq!(tokenizer["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"], r"\w+|\W");
        assert_eq!(tokenizer["post_processor"]["special_tokens"]["<s>"]["ids"], json!([1]));
        assert_eq!(named[0], ("bos_token", "<s>".to_owned()));
    }

    #[test]
    fn files_without_a_list_have_the_special_tokens_of_old_versions() {
        let list = FILE.find(",\n        \"special_tokens\"").unwrap();
        let old = format!("{}}}", &FILE[..list])
            .replace("special_tokens\": 4", "special_tokens\": 22")
            .replace(": 8,", ": 26,");
        let added = made(&old).unwrap().tokenizer["added_tokens"].clone();
        assert_eq!((&added[10]["content"], &added[19]["content"]), (&json!("[IMG]"), &json!("[TOOL_CONTENT]")));
        assert_eq!((&added[21]["content"], added.as_array().unwrap().len()), (&json!("<SPECIAL_21>"), 22));
    }

    #[test]
    fn mistakes_are_named() {
        for (old, new, part) in [
            ("\"pattern\"", "\"other\"", "`config.pattern` is missing"),
            ("YWE=", "YQ==", "two tokens of the same bytes"),
            ("YWE=", "!", "base64"),
            ("YWE=", &"YWFh".repeat(400), "more than 1024 bytes"),
            ("YWE=", "PHM+", "the text of a special token"),
            ("{\"rank\": 1, \"token_str\"", "{\"rank\": 2, \"token_str\"", "special_tokens"),
            ("special_tokens\": 4", "special_tokens\": 1", "default_num_special_tokens"),
            ("\"vocab\"", "\"words\"", "`vocab`"),
        ] {
            let Err(error) = made(&FILE.replace(old, new)) else { panic!("{part}") };
            assert!(error.to_string().contains(part) && error.to_string().contains("tekken.json"), "{error}");
        }
    }
}
