//! How an answer is made.

use et_llm::{Constraint, Sampler, Sampling, Session};

use crate::Error;

/// How an answer is made. The default is the model's own.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The most new tokens.
    pub max_new_tokens: Option<usize>,
    /// How tokens are picked; `None` for the program file's defaults, which [`super::LanguageModel::sampling`] tells.
    pub sampling: Option<Sampling>,
    /// Numbers that are added to the logits of tokens.
    pub logit_bias: Vec<(u32, f32)>,
    /// The form of the answer; needs the feature `constrain`.
    pub constraint: Option<Constraint>,
}

impl Options {
    /// At most this number of new tokens.
    #[must_use]
    pub const fn max_new_tokens(mut self, most: usize) -> Self {
        self.max_new_tokens = Some(most);
        self
    }

    /// Tokens picked in this way.
    #[must_use]
    pub const fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = Some(sampling);
        self
    }

    /// An answer of this form.
    #[must_use]
    pub fn constraint(mut self, constraint: Constraint) -> Self {
        self.constraint = Some(constraint);
        self
    }

    pub(super) fn sampler(&self, session: &Session) -> Result<Sampler, Error> {
        let sampling = self.sampling.unwrap_or_else(|| session.sampling()).checked()?;
        let matcher = self.constraint.as_ref().map(|constraint| session.matcher(constraint)).transpose()?;
        let mut sampler = Sampler::new(sampling).biased(self.logit_bias.clone());
        sampler.begin(matcher);
        Ok(sampler)
    }
}
