//! Tokenizers: text to tokens and back.

use crate::{AnswerSpec, Asked, Conversation, Error, Message, Question, Reading, Token};

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

    /// The prompt of a conversation, and how its answer is read: tools and thoughts as the chat template writes them.
    ///
    /// # Errors
    /// As [`Self::render`]; [`Error::Question`] for tools that are malformed, or that the chat template does not have.
    fn ask(&self, question: &Question<'_>) -> Result<Asked, Error> {
        if question.tools.is_some() {
            return Err(Error::question("tools", "the model has no tools"));
        }
        Ok(Asked { prompt: self.render(&question.conversation())?, answer: AnswerSpec::default() })
    }

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
