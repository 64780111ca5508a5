//! Hugging Face's tokenizers.

use std::collections::BTreeMap;

use et_llm::{Error, Token};

use crate::vocabulary::Bytes;

/// The most tokens of a vocabulary: no model has more, and a damaged file may have any number.
const MOST: u32 = 1 << 22;

/// A tokenizer.
pub struct Tokenizer(pub(crate) tokenizers::Tokenizer);

impl Tokenizer {
    /// Reads a `tokenizer.json`.
    pub fn read(json: &[u8]) -> Result<Self, Error> {
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(json).map_err(failed)?;
        // Prompts are neither cut nor filled up.
        tokenizer.with_truncation(None).map_err(failed)?;
        tokenizer.with_padding(None);
        Ok(Self(tokenizer))
    }

    pub fn encode(&self, text: &str, begins: bool) -> Result<Vec<u32>, Error> {
        let encoded = self.0.encode_fast(text, begins).map_err(failed)?;
        Ok(encoded.get_ids().to_vec())
    }

    /// Decodes tokens. Special tokens, such as the end-of-text token, have no text.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
        self.0.decode(tokens, true).map_err(failed)
    }

    /// The token with this name.
    pub fn token(&self, name: &str) -> Option<u32> {
        self.0.token_to_id(name)
    }

    /// The special token with this name.
    pub fn special(&self, name: &str) -> Option<u32> {
        let id = self.0.token_to_id(name)?;
        self.0.get_added_tokens_decoder().get(&id).filter(|token| token.special).map(|_| id)
    }

    /// The tokens by id.
    pub fn vocabulary(&self) -> Result<Vec<Token>, Error> {
        let decoder = serde_json::to_value(self.0.get_decoder()).map_err(|error| failed(error.into()))?;
        let bytes = Bytes::of(&decoder)?;
        let added = self.0.get_added_tokens_decoder();
        let names: BTreeMap<u32, String> = self.0.get_vocab(true).into_iter().map(|(name, id)| (id, name)).collect();
        let count = names.last_key_value().map_or(0, |(last, _)| last.saturating_add(1)).min(MOST);
        let token = |id: u32| match (names.get(&id), added.get(&id)) {
            (Some(name), Some(token)) if token.special => Token::Special(name.clone()),
            (Some(name), _) => bytes.token(name),
            (None, _) => Token::Unused,
        };
        Ok((0..count).map(token).collect())
    }
}

pub(crate) fn failed(error: tokenizers::Error) -> Error {
    Error::Text(format!("the tokenizer: {error}"))
}
