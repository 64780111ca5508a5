//! Speculative decoding: the model reads guessed tokens ahead of the text.

use std::path::PathBuf;

use crate::{Error, Model, Proposer};

/// Where guesses come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guesses {
    /// From the text itself ([`crate::Lookup`]).
    Lookup,
    /// From a smaller model, a program file ([`crate::Draft`]).
    Draft(PathBuf),
}

/// How good guesses were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guessed {
    /// How often the model was executed for tokens behind the prompt.
    pub passes: usize,
    /// Guesses.
    pub proposed: usize,
    /// The correct guesses.
    pub right: usize,
}

/// Reads a text token by token with guesses of the next tokens: a model takes hardly longer for a few tokens than for one, since the
/// model reads the weights once for all tokens. Logits are the logits of reading without guesses.
pub struct Speculation {
    proposer: Box<dyn Proposer>,
    /// The text so far.
    text: Vec<u32>,
    guesses: Vec<u32>,
    /// How many of the last guesses have come true.
    right: usize,
    guessed: Guessed,
}

impl Speculation {
    /// Guesses of `proposer`.
    pub fn new(proposer: Box<dyn Proposer>) -> Self {
        let (text, guesses, guessed) = (Vec::new(), Vec::new(), Guessed::default());
        Self { proposer, text, guesses, right: 0, guessed }
    }

    /// How good guesses were since [`Self::begin`].
    pub const fn guessed(&self) -> Guessed {
        self.guessed
    }

    /// Begins a text, perhaps another text than before.
    pub fn begin(&mut self) {
        self.text.clear();
        self.guesses.clear();
        (self.right, self.guessed) = (0, Guessed::default());
        self.proposer.begin();
    }

    /// Reads the next token, after which at most `most` tokens are of use; returns the logits behind the token.
    ///
    /// # Errors
    /// Errors of the model and of the source of guesses.
    pub fn read<'m>(&mut self, model: &'m mut Model, token: u32, most: usize) -> Result<&'m [f32], Error> {
        if self.text.is_empty() {
            self.text.extend_from_slice(model.tokens());
        }
        self.text.push(token);
        if model.expects(token) {
            self.right += 1;
            self.guessed.right += 1;
            return model.read(&[token]);
        }
        if !self.guesses.is_empty() {
            self.proposer.judged(self.guesses.len(), self.right);
        }
        self.guesses.clear();
        self.right = 0;
        let most = most.min(model.room_ahead());
        if most > 0 {
            self.proposer.propose(&self.text, most, &mut self.guesses)?;
        }
        self.guessed.passes += 1;
        self.guessed.proposed += self.guesses.len();
        model.read_ahead(token, &self.guesses)
    }
}
