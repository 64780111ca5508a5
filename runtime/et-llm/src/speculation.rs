//! Speculative decoding: the model verifies draft tokens in a single forward pass.

use std::path::PathBuf;

use crate::{Error, Model, Proposer};

/// The source of draft tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guesses {
    /// From the text itself ([`crate::Lookup`]).
    Lookup,
    /// From a smaller model, a program file ([`crate::Draft`]).
    Draft(PathBuf),
}

/// The acceptance of draft tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guessed {
    /// The number of forward passes after the prompt.
    pub passes: usize,
    /// The number of draft tokens.
    pub proposed: usize,
    /// The number of accepted tokens.
    pub right: usize,
}

/// Decodes a text with draft tokens: a forward pass over a few tokens takes hardly longer than over one, because the
/// weights are read once for all tokens. The logits equal the logits without speculation.
pub struct Speculation {
    proposer: Box<dyn Proposer>,
    /// The text so far.
    text: Vec<u32>,
    guesses: Vec<u32>,
    /// The number of accepted tokens of the last proposal.
    right: usize,
    guessed: Guessed,
}

impl Speculation {
    /// Speculative decoding with the draft of `proposer`.
    pub fn new(proposer: Box<dyn Proposer>) -> Self {
        let (text, guesses, guessed) = (Vec::new(), Vec::new(), Guessed::default());
        Self { proposer, text, guesses, right: 0, guessed }
    }

    /// The acceptance since [`Self::begin`].
    pub const fn guessed(&self) -> Guessed {
        self.guessed
    }

    /// Begins a text.
    pub fn begin(&mut self) {
        self.text.clear();
        self.guesses.clear();
        (self.right, self.guessed) = (0, Guessed::default());
        self.proposer.begin();
    }

    /// Reads the next token, after which at most `most` tokens are of use; returns the logits after the token.
    ///
    /// # Errors
    /// Errors of the model and of the draft.
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
