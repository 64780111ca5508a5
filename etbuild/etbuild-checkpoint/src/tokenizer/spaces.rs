//! How SentencePiece prepares a text: characters by a table, and spaces.

use et_module::base64::encode;
use serde_json::{Value, json};

use super::SPACE;
use super::protobuf::{Field, Fields};

/// The preparation.
#[derive(Clone, Copy)]
pub struct Spaces<'f> {
    /// The table of characters; may be empty.
    characters: &'f [u8],
    /// Whether a text gets a space ahead.
    pub begins: bool,
    /// Whether spaces at the ends, and spaces behind a space, are left out.
    trims: bool,
}

impl Default for Spaces<'_> {
    fn default() -> Self {
        Self { characters: &[], begins: true, trims: true }
    }
}

impl<'f> Spaces<'f> {
    /// Reads the specification of the normalizer.
    pub fn read(rules: &'f [u8]) -> Result<Self, String> {
        let mut spaces = Self::default();
        for field in Fields(rules) {
            match field? {
                (2, Field::Bytes(table)) => spaces.characters = table,
                (3, Field::Number(flag)) => spaces.begins = flag != 0,
                (4, Field::Number(flag)) => spaces.trims = flag != 0,
                (5, Field::Number(0)) => return Err("its spaces stay spaces, which is not known".to_owned()),
                _ => {}
            }
        }
        if spaces.trims && (!spaces.begins || spaces.characters.is_empty()) {
            return Err(
                "spaces are left out of its texts, without a space ahead or a table of characters, which is not known"
                    .to_owned(),
            );
        }
        Ok(spaces)
    }

    /// The part `normalizer` of `tokenizer.json`.
    pub fn normalizer(&self) -> Value {
        if self.characters.is_empty() {
            return Value::Null;
        }
        json!({"type": "Precompiled", "precompiled_charsmap": encode(self.characters)})
    }

    /// The part `pre_tokenizer` of `tokenizer.json`: words, each with a space ahead, or a text as a whole.
    pub fn pre_tokenizer(&self) -> Value {
        let mark = |scheme: &str, split: bool| json!({"type": "Metaspace", "replacement": SPACE.to_string(), "prepend_scheme": scheme, "split": split});
        match (self.trims, self.begins) {
            (true, _) => {
                json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, mark("always", true)]})
            }
            (false, true) => mark("first", false),
            (false, false) => mark("never", false),
        }
    }
}
