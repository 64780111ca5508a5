//! Answers as iterators.

use std::collections::VecDeque;

use et_llm::{Call, Ended, Likelihood, Piece};

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

    /// The pieces of the answer: text, thoughts and calls of tools.
    pub const fn pieces(self) -> Pieces<'m> {
        Pieces { answer: self, waiting: VecDeque::new() }
    }

    /// What the model has thought so far, if the options split thoughts off.
    pub fn thoughts(&self) -> &str {
        self.model.thoughts()
    }

    /// The calls of tools so far, each with the id by which a later message names the call.
    pub fn calls(&self) -> &[(String, Call)] {
        self.model.calls()
    }

    /// The new tokens so far.
    pub fn tokens(&self) -> &[u32] {
        self.model.new_tokens()
    }

    /// How probable the new tokens so far are, if the options ask for probabilities.
    pub fn likelihoods(&self) -> &[Likelihood] {
        self.model.likelihoods()
    }

    /// Why the answer ended; `None` before.
    pub fn ended(&self) -> Option<Ended> {
        self.model.ended()
    }

    /// The next pieces, which are some; `None` at the end.
    fn advance(&mut self) -> Result<Option<Vec<Piece>>, Error> {
        loop {
            match self.model.advance()? {
                Advance::Read => {}
                Advance::Token(_, pieces) if pieces.is_empty() => {}
                Advance::Token(_, pieces) => return Ok(Some(pieces)),
                Advance::Ended(rest) => return Ok((!rest.is_empty()).then_some(rest)),
            }
        }
    }

    /// The next pieces, as [`Self::advance`] gives them; `None` also after an error.
    fn next_pieces(&mut self) -> Option<Result<Vec<Piece>, Error>> {
        if self.failed {
            return None;
        }
        let advanced = self.advance().transpose();
        self.failed = matches!(advanced, Some(Err(_)));
        advanced
    }
}

/// After an error, there is no further text.
impl Iterator for Answer<'_> {
    type Item = Result<String, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_pieces()?.map(Piece::text) {
                Ok(text) if text.is_empty() => {}
                next => return Some(next),
            }
        }
    }
}

/// The pieces of an answer, as they come.
pub struct Pieces<'m> {
    answer: Answer<'m>,
    waiting: VecDeque<Piece>,
}

impl Pieces<'_> {
    /// The calls of tools so far, each with the id by which a later message names the call.
    pub fn calls(&self) -> &[(String, Call)] {
        self.answer.calls()
    }

    /// Why the answer ended; `None` before.
    pub fn ended(&self) -> Option<Ended> {
        self.answer.ended()
    }
}

/// After an error, there is no further piece.
impl Iterator for Pieces<'_> {
    type Item = Result<Piece, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(piece) = self.waiting.pop_front() {
            return Some(Ok(piece));
        }
        match self.answer.next_pieces()? {
            Ok(pieces) => {
                self.waiting.extend(pieces);
                self.waiting.pop_front().map(Ok)
            }
            Err(error) => Some(Err(error)),
        }
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
