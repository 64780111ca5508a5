//! The text encoder of a model with cross-attention: the prompt is the text of the encoder, and the decoder's text begins anew.

use et_module::Module;

use crate::method::{place, set};
use crate::{Error, Facts};

/// The method that reads the prompt.
pub const TEXT_ENCODER: &str = "text_encoder";

/// The method, and the first token of the decoder's text.
pub struct SourceMethod {
    module: Module,
    tokens: usize,
    last: usize,
    begin: u32,
    /// The most tokens of a prompt.
    most: usize,
}

impl SourceMethod {
    /// The method of a loaded module.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] where inputs, or the facts of the program file, are missing.
    pub fn new(module: Module, facts: &Facts) -> Result<Self, Error> {
        let (tokens, last) = (place(&module, "tokens")?, place(&module, "last")?);
        let missing = |what: &str| Error::NotALanguageModel(format!("its facts lack `{what}`"));
        let begin = facts.begin.ok_or_else(|| missing("begin"))?;
        let most = facts.context.ok_or_else(|| missing("context"))?;
        Ok(Self { module, tokens, last, begin, most })
    }

    /// Reads a prompt, whose tokens are those of a vocabulary of this size; returns the beginning of the decoder's text.
    pub fn read(&mut self, prompt: &[u32], vocabulary: usize) -> Result<Vec<u32>, Error> {
        if prompt.is_empty() {
            return Err(Error::NoTokens);
        }
        if prompt.len() > self.most {
            return Err(Error::ContextFull { tokens: prompt.len(), context: self.most });
        }
        if let Some(token) = prompt.iter().find(|token| **token as usize >= vocabulary) {
            return Err(Error::UnknownToken { token: *token, vocabulary });
        }
        let tokens: Vec<i64> = prompt.iter().copied().map(i64::from).collect();
        set(&mut self.module, self.tokens, &[1, tokens.len()], &tokens)?;
        set(&mut self.module, self.last, &[1], &[tokens.len() as i64 - 1])?;
        self.module.execute()?;
        Ok(vec![self.begin])
    }
}
