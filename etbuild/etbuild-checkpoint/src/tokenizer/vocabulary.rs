//! The tokens of a tokenizer of pieces or bytes: the text and the role of each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::CheckpointError;
use crate::config::Config;
use crate::texts::token_text;

/// The character of a space in pieces.
pub const SPACE: char = '▁';

/// What a token is, by the numbers in the files of SentencePiece and in GGUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

impl Role {
    /// The role of a number.
    pub const fn of(code: u64) -> Self {
        match code {
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => Self::Normal,
        }
    }
}

/// The text and the role of each token.
pub struct Vocabulary<'f> {
    /// The texts.
    pub texts: Vec<&'f str>,
    /// The roles, as many as texts.
    pub roles: Vec<Role>,
}

impl<'f> Vocabulary<'f> {
    /// The tokens with texts and roles.
    pub fn tokens(&self) -> impl Iterator<Item = (usize, &'f str, Role)> + '_ {
        self.texts.iter().zip(&self.roles).enumerate().map(|(token, (text, role))| (token, *text, *role))
    }

    /// The text of a token.
    pub fn text(&self, token: u64) -> Option<&'f str> {
        self.texts.get(usize::try_from(token).ok()?).copied()
    }

    /// The token with a text.
    pub fn token(&self, text: &str) -> Option<u64> {
        self.texts.iter().position(|known| *known == text).map(|token| token as u64)
    }

    /// Tokens by text.
    pub fn map(&self) -> Value {
        Value::Object(self.tokens().map(|(token, text, _)| (text.to_owned(), token.into())).collect())
    }

    /// The tokens that are found in a text before the text is split.
    pub fn added(&self) -> Vec<Value> {
        let added =
            self.tokens().filter(|(_, _, role)| matches!(role, Role::Control | Role::UserDefined | Role::Unknown));
        // Spaces are written so only behind the normalizer.
        let is_normalized = |text: &str, role| role == Role::UserDefined && text.contains(SPACE);
        added
            .map(|(token, text, role)| added_token(token, text, is_normalized(text, role), role != Role::UserDefined))
            .collect()
    }
}

/// A token that is found in a text before the text is split.
pub fn added_token(token: usize, text: &str, is_normalized: bool, is_special: bool) -> Value {
    json!({
        "id": token, "content": text, "single_word": false, "lstrip": false, "rstrip": false, "normalized": is_normalized,
        "special": is_special,
    })
}

/// The tokens of `added_tokens_decoder` in the configuration of a tokenizer, by number.
///
/// # Errors
/// Tokens without a number or a text.
pub fn stated_tokens(stated: &Config) -> Result<BTreeMap<u64, Value>, CheckpointError> {
    const KEY: &str = "added_tokens_decoder";
    let mut tokens = BTreeMap::new();
    for (token, entry) in stated.optional_map(KEY)?.iter().flat_map(Config::entries) {
        let wrong = || stated.mistake(KEY, format!("has no token with a text under `{token}`"));
        let flag = |name: &str| entry.get(name).and_then(Value::as_bool).unwrap_or(false);
        let id: usize = token.parse().map_err(|_| wrong())?;
        let text = token_text(&entry).ok_or_else(wrong)?;
        let mut made = added_token(id, text, flag("normalized"), flag("special"));
        for name in ["lstrip", "rstrip", "single_word"] {
            if let Some(place) = made.get_mut(name) {
                *place = flag(name).into();
            }
        }
        tokens.insert(id as u64, made);
    }
    Ok(tokens)
}
