//! Answers as iterators.

use et_llm::Ended;

use super::{Advance, LanguageModel};
use crate::Error;

/// The texts of an answer, as they come: each is a text that later tokens do not change.
pub struct Answer<'m> {
    model: &'m mut LanguageModel,
    failed: bool,
}

impl<'m> Answer<'m> {
    pub(super) const fn new(model: &'m mut LanguageModel) -> Self {
        Self { model, failed: false }
    }

    /// The rest of the answer, to its end.
    ///
    /// # Errors
    /// The program fails; the answer cannot keep its form.
    pub fn text(&mut self) -> Result<String, Error> {
        self.collect()
    }

    /// The new tokens so far.
    pub fn tokens(&self) -> &[u32] {
        self.model.new_tokens()
    }

    /// Why the answer ended; `None` before.
    pub fn ended(&self) -> Option<Ended> {
        self.model.ended()
    }

    fn advance(&mut self) -> Result<Option<String>, Error> {
        loop {
            match self.model.advance()? {
                Advance::Read => {}
                Advance::Token(_, text) if text.is_empty() => {}
                Advance::Token(_, text) => return Ok(Some(text)),
                Advance::Ended(rest) => return Ok((!rest.is_empty()).then_some(rest)),
            }
        }
    }
}

/// After an error, there is no further text.
impl Iterator for Answer<'_> {
    type Item = Result<String, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let advanced = self.advance().transpose();
        self.failed = matches!(advanced, Some(Err(_)));
        advanced
    }
}

/// The tokens of an answer, as they come.
pub struct Tokens<'m>(Answer<'m>);

impl<'m> Tokens<'m> {
    pub(super) const fn new(model: &'m mut LanguageModel) -> Self {
        Self(Answer::new(model))
    }

    /// Why the answer ended; `None` before.
    pub fn ended(&self) -> Option<Ended> {
        self.0.ended()
    }
}

/// After an error, there is no further token.
impl Iterator for Tokens<'_> {
    type Item = Result<u32, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.0.failed {
            match self.0.model.advance() {
                Ok(Advance::Read) => {}
                Ok(Advance::Token(token, _)) => return Some(Ok(token)),
                Ok(Advance::Ended(_)) => return None,
                Err(error) => {
                    self.0.failed = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
