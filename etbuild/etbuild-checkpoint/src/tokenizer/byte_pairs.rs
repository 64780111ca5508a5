//! `vocab.json` and `merges.txt`: tokenizers of bytes as `transformers` saved them before `tokenizer.json`.
//!
//! The files do not say how a text is split; the class of the tokenizer does, as in `transformers`. Tokens beside the vocabulary come from
//! `added_tokens_decoder` of `tokenizer_config.json`, or else from `added_tokens.json` and `special_tokens_map.json`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::byte_classes::{self, Around, Class};
use super::vocabulary::{added_token, stated_tokens};
use super::{Made, Sources, around, byte_parts, malformed};
use crate::CheckpointError;
use crate::config::Config;
use crate::texts::token_text;

/// The file with the tokens by text.
pub const VOCABULARY: &str = "vocab.json";
/// The file with the merges.
pub const MERGES: &str = "merges.txt";
/// The file with tokens beside the vocabulary.
pub const ADDED: &str = "added_tokens.json";
/// The file with the tokens that have a role.
pub const SPECIAL: &str = "special_tokens_map.json";

/// The keys of lists of further tokens with a role.
const LISTS: [&str; 2] = ["additional_special_tokens", "extra_special_tokens"];

/// The tokenizer of the files.
pub fn tokenizer(sources: &Sources<'_>) -> Result<Made, CheckpointError> {
    let Sources { config, stated, .. } = sources;
    let class = byte_classes::find(stated, config)?;
    let tokens = Tokens::read(sources, class)?;
    let merges = merges(sources, &tokens.vocabulary)?;
    let prefix = stated.flag("add_prefix_space")?;
    let around = tokens.around(class, stated, prefix)?;
    let parts = byte_parts(&[], false, Value::Object(tokens.vocabulary), merges.into());
    let mut tokenizer: Map<String, Value> = parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    tokenizer.insert("version".to_owned(), "1.0".into());
    tokenizer.insert("added_tokens".to_owned(), tokens.added.into_values().collect());
    tokenizer.insert("normalizer".to_owned(), if class.is_composed { json!({"type": "NFC"}) } else { Value::Null });
    tokenizer.insert("pre_tokenizer".to_owned(), class.pre_tokenizer(prefix));
    tokenizer.insert("post_processor".to_owned(), around);
    Ok(Made { tokenizer: Value::Object(tokenizer), named: tokens.named })
}

/// The tokens of a tokenizer.
struct Tokens {
    /// The tokens by text.
    vocabulary: Map<String, Value>,
    /// The tokens that are found in a text before the text is split, by number.
    added: BTreeMap<u64, Value>,
    /// The tokens that templates name.
    named: Vec<(&'static str, String)>,
}

impl Tokens {
    fn read(sources: &Sources<'_>, class: &Class) -> Result<Self, CheckpointError> {
        let vocabulary = counted(sources, VOCABULARY)?;
        let added = stated_tokens(sources.stated)?;
        // The files beside say nothing where the configuration has a list, as in `transformers`.
        let map = if added.is_empty() { sources.optional(SPECIAL)? } else { None };
        let mut tokens = Self { vocabulary, added, named: Vec::new() };
        let special = tokens.name(class, sources.stated, map.as_ref());
        if tokens.added.is_empty() {
            tokens.add_file(sources, &special)?;
        }
        tokens.place();
        for value in special {
            tokens.mark(&value);
        }
        Ok(tokens)
    }

    /// Notes the tokens that templates name; returns all tokens with a role, each a text or an object with the text.
    fn name(&mut self, class: &Class, stated: &Config, map: Option<&Config>) -> Vec<Value> {
        let stated_or_own = |key: &str, own: &str| {
            let of_map = map.and_then(|map| map.value(key)).or_else(|| stated.value(key)).cloned();
            of_map.or_else(|| (!stated.keys().any(|known| known == key)).then(|| own.into()))
        };
        let mut special = Vec::new();
        for (key, own) in class.named {
            let Some(value) =
                stated_or_own(key, own).filter(|value| token_text(value).is_some_and(|text| !text.is_empty()))
            else {
                continue;
            };
            self.named.extend(token_text(&value).map(|text| (*key, text.to_owned())));
            special.push(value);
        }
        let lists = LISTS.iter().filter_map(|key| map.and_then(|map| map.value(key)).or_else(|| stated.value(key)));
        special.extend(lists.filter_map(Value::as_array).flatten().cloned());
        special
    }

    /// Adds the tokens of the file beside the vocabulary. Those without a role are found behind the normalizer.
    fn add_file(&mut self, sources: &Sources<'_>, special: &[Value]) -> Result<(), CheckpointError> {
        if !sources.files.contains_key(ADDED) {
            return Ok(());
        }
        let special: BTreeSet<&str> = special.iter().filter_map(token_text).collect();
        for (text, token) in counted(sources, ADDED)? {
            let is_special = special.contains(text.as_str());
            let id = token.as_u64().unwrap_or_default();
            self.added.insert(id, added_token(id as usize, &text, !is_special, is_special));
        }
        Ok(())
    }

    /// Gives added tokens a place in the vocabulary; one whose text has a place keeps that, as in `transformers`.
    fn place(&mut self) {
        let mut added = BTreeMap::new();
        for (token, mut entry) in std::mem::take(&mut self.added) {
            let text = token_text(&entry).unwrap_or_default().to_owned();
            let token = self.vocabulary.entry(text).or_insert_with(|| token.into()).as_u64().unwrap_or(token);
            entry["id"] = token.into();
            added.insert(token, entry);
        }
        self.added = added;
    }

    /// Lets a token with a role be found before a text is split, unless the vocabulary lacks the token.
    fn mark(&mut self, value: &Value) {
        let Some((text, token)) = token_text(value).and_then(|text| Some((text, self.token(text)?))) else { return };
        let entry = self.added.entry(token).or_insert_with(|| added_token(token as usize, text, false, true));
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("special".to_owned(), true.into());
            let flags = ["lstrip", "rstrip", "single_word", "normalized"];
            let flags = flags.iter().filter_map(|flag| Some(((*flag).to_owned(), value.get(flag)?.clone())));
            entry.extend(flags);
        }
    }

    fn token(&self, text: &str) -> Option<u64> {
        self.vocabulary.get(text)?.as_u64()
    }

    /// The number and the text of the token that a key names.
    fn named(&self, key: &'static str) -> Result<(u64, &str), CheckpointError> {
        let found = self.named.iter().find(|(known, _)| *known == key);
        let found = found.and_then(|(_, text)| Some((self.token(text)?, text.as_str())));
        found.ok_or_else(|| malformed(VOCABULARY, format!("it has no token for `{key}`")))
    }

    /// The post-processor.
    fn around(&self, class: &Class, stated: &Config, prefix: bool) -> Result<Value, CheckpointError> {
        let of = |flag: &str, key| stated.flag_or(flag, false)?.then(|| self.named(key)).transpose();
        match class.around {
            Around::Nothing => Ok(around(None, None)),
            Around::Stated => Ok(around(of("add_bos_token", "bos_token")?, of("add_eos_token", "eos_token")?)),
            Around::Pairs => {
                let [(first, cls), (last, sep)] = [self.named("cls_token")?, self.named("sep_token")?];
                let trims = stated.flag_or("trim_offsets", true)?;
                Ok(json!({
                    "type": "RobertaProcessing", "sep": [sep, last], "cls": [cls, first], "trim_offsets": trims,
                    "add_prefix_space": prefix,
                }))
            }
        }
    }
}

/// A file that maps texts to numbers.
fn counted(sources: &Sources<'_>, file: &'static str) -> Result<Map<String, Value>, CheckpointError> {
    /// More tokens than any model has: a damaged file may state any number.
    const MOST: u64 = 1 << 22;
    let read = sources.optional(file)?.ok_or_else(|| malformed(file, "it is missing"))?;
    let wrong = read.entries().find(|(_, token)| token.as_u64().is_none_or(|token| token >= MOST));
    match wrong {
        Some((text, _)) => Err(malformed(file, format!("the token `{text}` has no number"))),
        None => Ok(read.entries().collect()),
    }
}

/// The merges, each of two tokens whose texts together are a token.
fn merges(sources: &Sources<'_>, vocabulary: &Map<String, Value>) -> Result<Vec<String>, CheckpointError> {
    let text = std::str::from_utf8(sources.files.get(MERGES).map_or(&[], Vec::as_slice));
    let text = text.map_err(|_| malformed(MERGES, "it is not UTF-8"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with("#version") && !line.is_empty());
    let merge = |(number, line): (usize, &str)| {
        let is_known = |text: &str| vocabulary.contains_key(text);
        let pair = line
            .split_once(' ')
            .filter(|(left, right)| is_known(left) && is_known(right) && is_known(&[*left, *right].concat()));
        let wrong = || malformed(MERGES, format!("line {} is no merge of two tokens to a token", number + 1));
        pair.map(|_| line.to_owned()).ok_or_else(wrong)
    };
    lines.map(merge).collect()
}
