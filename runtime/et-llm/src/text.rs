//! Tokenizers: text to tokens and back.

use std::sync::Arc;

use crate::{Error, Picture, Reading};

/// A tokenizer, with the chat template that turns a conversation into a text. A server reads prompts on threads besides the model's.
pub trait Text: Send + Sync {
    /// The tokens of a text. Where `begins`, the tokenizer adds the tokens that begin every text.
    fn encode(&self, text: &str, begins: bool) -> Result<Vec<u32>, Error>;

    /// The tokens of a text, or of a pair of texts, for an encoder: at most `most` with the special tokens; of a pair, tokens of the longer
    /// text are cut off first.
    ///
    /// # Errors
    /// [`Error::NoTokenizer`] for a tokenizer of language models alone.
    fn read(&self, _text: &str, _pair: Option<&str>, _most: usize) -> Result<Reading, Error> {
        Err(Error::NoTokenizer)
    }

    /// The text of tokens, without special tokens. Bytes of an incomplete character become U+FFFD.
    fn decode(&self, tokens: &[u32]) -> Result<String, Error>;

    /// A conversation in the model's chat format, up to the start of the answer; [`Error::NoTemplate`] for a program file without
    /// a template.
    fn render(&self, conversation: &Conversation<'_>) -> Result<String, Error>;

    /// A conversation of messages alone, as [`Self::render`].
    fn conversation(&self, messages: &[Message]) -> Result<String, Error> {
        self.render(&Conversation { messages, ..Conversation::default() })
    }

    /// The chat template, if any.
    fn template(&self) -> Option<&str> {
        None
    }

    /// The token with this name, if any.
    fn token(&self, _name: &str) -> Option<u32> {
        None
    }

    /// The special token with this name, if any.
    fn special(&self, _name: &str) -> Option<u32> {
        None
    }

    /// The tokens by id.
    ///
    /// # Errors
    /// [`Error::NoTokenBytes`] for a tokenizer whose tokens are no bytes of the text.
    fn vocabulary(&self) -> Result<Vec<Token>, Error> {
        Err(Error::NoTokenBytes)
    }
}

/// A token of a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A part of a text, as bytes: a character may be several tokens.
    Bytes(Vec<u8>),
    /// A special token, which has a name and no text.
    Special(String),
    /// A number without a token.
    Unused,
}

/// A conversation for a chat template.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conversation<'c> {
    /// The messages.
    pub messages: &'c [Message],
    /// The tools that the model may call, a JSON list, if any.
    pub tools: Option<&'c str>,
    /// Further variables of the template, a JSON object, if any.
    pub variables: Option<&'c str>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The role: `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// The text of the message.
    pub content: String,
    /// The parts of the message, for a chat template of texts and pictures, in the place of `content`; empty for a template of texts.
    pub parts: Vec<Part>,
    /// Further keys for the chat template, such as `tool_calls`: a JSON object, whose keys replace the others.
    pub more: Option<String>,
}

impl Message {
    /// A message.
    pub fn new(role: &'static str, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), parts: Vec::new(), more: None }
    }

    /// A message of parts.
    pub fn of_parts(role: &'static str, parts: Vec<Part>) -> Self {
        Self { parts, ..Self::new(role, "") }
    }

    /// The pictures of messages, in their order.
    pub fn pictures(messages: &[Self]) -> Vec<Arc<Picture>> {
        Part::pictures(messages.iter().flat_map(|message| &message.parts))
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A text.
    Text(String),
    /// A picture.
    Picture(Arc<Picture>),
}

impl Part {
    /// The pictures of parts, in their order.
    pub fn pictures<'p>(parts: impl IntoIterator<Item = &'p Self>) -> Vec<Arc<Picture>> {
        let picture = |part: &Self| match part {
            Self::Picture(picture) => Some(Arc::clone(picture)),
            Self::Text(_) => None,
        };
        parts.into_iter().filter_map(picture).collect()
    }
}
