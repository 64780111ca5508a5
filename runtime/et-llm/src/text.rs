//! Tokenizers: text to tokens and back.

use crate::Error;

/// A tokenizer, with the chat template that turns a conversation into a text. A server reads prompts on threads besides the model's.
pub trait Text: Send + Sync {
    /// The tokens of a text. Where `begins`, the tokenizer adds the tokens that begin every text.
    fn encode(&self, text: &str, begins: bool) -> Result<Vec<u32>, Error>;

    /// The text of tokens, without special tokens. Bytes of an incomplete character become U+FFFD.
    fn decode(&self, tokens: &[u32]) -> Result<String, Error>;

    /// A conversation in the model's chat format, up to the start of the answer; [`Error::NoTemplate`] for a program file without
    /// a template.
    fn conversation(&self, messages: &[Message]) -> Result<String, Error>;
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The role: `system`, `user` or `assistant`.
    pub role: &'static str,
    /// The text of the message.
    pub content: String,
}

impl Message {
    /// A message.
    pub fn new(role: &'static str, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}
