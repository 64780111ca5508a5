//! A text that is continued step by step.

use crate::{Error, Model, Sampler, Speculation};

/// Where a continuation ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// After this number of new tokens.
    pub tokens: usize,
    /// Behind each of these tokens.
    pub stops: &'a [u32],
}

/// Why a continuation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The model ended the text; the stop token is not part of the text.
    Stopped,
    /// The answer has the form that was asked for, and nothing can follow.
    Complete,
    /// The requested number of tokens is reached.
    Enough,
    /// The text fills the context.
    ContextFull,
}

/// The state between the steps of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continuation {
    /// The tokens that the model has not read before the first step.
    prompt: Vec<u32>,
    /// The new tokens.
    tokens: Vec<u32>,
    /// Whether the answer has the form that was asked for, and nothing can follow.
    is_complete: bool,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A new token.
    Token(u32),
    /// The end of the text.
    Ended(Ended),
}

impl Continuation {
    /// Begins to continue a text; `prompt` has the tokens of the text that the model has not read yet.
    pub fn new(prompt: &[u32], speculation: Option<&mut Speculation>) -> Self {
        if let Some(speculation) = speculation {
            speculation.begin();
        }
        Self { prompt: prompt.to_vec(), tokens: Vec::new(), is_complete: false }
    }

    /// The new tokens.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Whether the answer has the form that was asked for, and nothing can follow.
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The new tokens.
    pub fn into_tokens(self) -> Vec<u32> {
        self.tokens
    }

    /// Picks the next token. The model, which no other text may use in between, has the logits of the pick, and has read all tokens
    /// but the last new one.
    ///
    /// # Errors
    /// Errors of the model and of the sampler.
    pub fn step(
        &mut self,
        model: &mut Model,
        speculation: Option<&mut Speculation>,
        sampler: &mut Sampler,
        limits: &Limits<'_>,
    ) -> Result<Step, Error> {
        if let Some(ended) = self.ended(model, limits) {
            return Ok(Step::Ended(ended));
        }
        match (self.tokens.last(), speculation) {
            (None, _) => model.read(&self.prompt)?,
            (Some(token), None) => model.read(&[*token])?,
            (Some(token), Some(speculation)) => {
                speculation.read(model, *token, limits.tokens - self.tokens.len() - 1)?
            }
        };
        self.pick(model, sampler, limits)
    }

    /// The token that the next step would read, if the step would read exactly one: a [`crate::Batch`] may read the token instead, and
    /// [`Self::pick`] is the rest of the step.
    pub fn next_read(&self, model: &Model, limits: &Limits<'_>) -> Option<u32> {
        self.tokens.last().copied().filter(|_| self.ended(model, limits).is_none())
    }

    /// Picks the next token by the logits behind the last token, which the model has read.
    ///
    /// # Errors
    /// Errors of the sampler.
    pub fn pick(&mut self, model: &Model, sampler: &mut Sampler, limits: &Limits<'_>) -> Result<Step, Error> {
        let token = sampler.pick(model.logits(), model.tokens())?;
        if limits.stops.contains(&token) {
            return Ok(Step::Ended(Ended::Stopped));
        }
        self.tokens.push(token);
        self.is_complete = sampler.is_complete();
        Ok(Step::Token(token))
    }

    /// The reason to end before a further token is read.
    fn ended(&self, model: &Model, limits: &Limits<'_>) -> Option<Ended> {
        let is_full = || model.context().is_some_and(|context| model.tokens().len() >= context);
        match self.tokens.is_empty() {
            _ if self.is_complete => Some(Ended::Complete),
            _ if self.tokens.len() >= limits.tokens => Some(Ended::Enough),
            false if is_full() => Some(Ended::ContextFull),
            _ => None,
        }
    }
}
