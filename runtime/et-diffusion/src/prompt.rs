//! Prompts as the text encoder reads them: a fixed number of tokens.

use et_llm::{MakeText, TOKENIZER_KEY, Text};
use et_module::named_data;

use crate::{Error, Facts};

/// The tokenizer with the padding of prompts.
pub struct Prompts {
    text: Box<dyn Text>,
    padding: u32,
    length: usize,
}

/// The tokens of a prompt.
pub struct Prompt {
    /// The tokens, filled up with padding.
    pub tokens: Vec<u32>,
    /// The number of tokens that were cut off.
    pub cut: usize,
}

impl Prompts {
    /// The tokenizer of a program file.
    ///
    /// # Errors
    /// A missing or malformed tokenizer; padding that is no token.
    pub fn of(file: &[u8], facts: &Facts, make: Option<MakeText>) -> Result<Self, Error> {
        let make = make.ok_or(et_llm::Error::NoTokenizer)?;
        let tokenizer = named_data(file, TOKENIZER_KEY).ok_or(et_llm::Error::NoTokenizer)?;
        let text = make(tokenizer, None)?;
        let unknown = || Error::NotAPipeline(format!("the tokenizer has no token `{}`", facts.padding));
        let padding = text.token(&facts.padding).ok_or_else(unknown)?;
        Ok(Self { text, padding, length: facts.tokens })
    }

    /// The tokens of a prompt, cut or filled up to the length of all prompts.
    ///
    /// # Errors
    /// A text that the tokenizer refuses.
    pub fn read(&self, text: &str) -> Result<Prompt, Error> {
        let reading = self.text.read(text, None, self.length)?;
        let mut tokens = reading.tokens;
        tokens.resize(self.length, self.padding);
        Ok(Prompt { tokens, cut: reading.cut })
    }
}
