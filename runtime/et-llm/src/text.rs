//! What turns text into tokens and back.

use crate::Error;

/// A tokenizer, with the template that makes one text of a conversation.
pub trait Text {
    /// The tokens of a text. Where `begins`, the tokenizer puts in front what every text begins with.
    fn encode(&self, text: &str, begins: bool) -> Result<Vec<u32>, Error>;

    /// The text of tokens, those without text left out. Bytes that are no whole character become U+FFFD.
    fn decode(&self, tokens: &[u32]) -> Result<String, Error>;

    /// A conversation as the model wants to read it, up to where its answer begins; [`Error::NoTemplate`] where nobody knows
    /// how.
    fn conversation(&self, messages: &[Message]) -> Result<String, Error>;
}

/// What somebody says in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who says it: `system`, `user` or `assistant`.
    pub role: &'static str,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A message.
    pub fn new(role: &'static str, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}
