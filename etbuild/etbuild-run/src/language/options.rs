//! How an answer is made.

use et_llm::{AnswerText, Constraint, Matcher, Message, Question, Sampler, Sampling, Session, Tools};

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
    /// Texts that end the answer, and are no part of it.
    pub stops: Vec<String>,
    /// The tools that the model may call in a conversation.
    pub tools: Option<Tools>,
    /// Variables of the chat template for a conversation, a JSON object such as `{"enable_thinking": false}`.
    pub template_variables: Option<String>,
    /// Whether thoughts are no part of the text of an answer in a conversation, but [`super::Answer::thoughts`].
    pub splits_thoughts: bool,
    /// How many of the most probable tokens [`super::Answer::likelihoods`] has beside the probability of each new token; `None` for no
    /// probabilities.
    pub top_logprobs: Option<usize>,
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

    /// An answer that ends ahead of one of these texts.
    #[must_use]
    pub fn stops(mut self, stops: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stops = stops.into_iter().map(Into::into).collect();
        self
    }

    /// An answer that may call these tools.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Self {
        self.tools = Some(tools);
        self
    }

    /// The probabilities of the new tokens, each with those of `count` most probable tokens.
    #[must_use]
    pub const fn top_logprobs(mut self, count: usize) -> Self {
        self.top_logprobs = Some(count);
        self
    }

    /// The sampler of an answer whose form, if the conversation demands one, is `demanded`, behind a token or from the beginning.
    pub(super) fn sampler(
        &self,
        session: &Session,
        (behind, demanded): (Option<u32>, Option<Constraint>),
    ) -> Result<Sampler, Error> {
        let sampling = self.sampling.unwrap_or_else(|| session.sampling()).checked()?;
        let constraint = demanded.as_ref().or(self.constraint.as_ref());
        let matcher: Option<Box<dyn Matcher>> = constraint.map(|form| session.matcher(form)).transpose()?;
        let mut sampler = Sampler::new(sampling).biased(self.logit_bias.clone());
        sampler.begin_behind(behind, matcher);
        Ok(sampler)
    }

    /// The text of an answer in which these special tokens are text.
    pub(super) fn text(&self, shown: Vec<(u32, &'static str)>) -> AnswerText {
        AnswerText::new(shown, self.stops.clone())
    }

    /// Refuses the options of conversations for another prompt.
    pub(super) fn refuse_conversation(&self) -> Result<(), Error> {
        let given = [("tools", self.tools.is_some()), ("template_variables", self.template_variables.is_some())];
        let found = given.into_iter().find(|(_, is_given)| *is_given);
        found.map_or(Ok(()), |(name, _)| {
            Err(et_llm::Error::question(name, format!("`{name}` is for conversations")).into())
        })
    }

    /// What a conversation asks for.
    pub(super) fn question<'q>(&'q self, messages: &'q [Message]) -> Question<'q> {
        Question {
            messages,
            tools: self.tools.as_ref(),
            variables: self.template_variables.as_deref(),
            has_form: self.constraint.is_some(),
            splits_thoughts: self.splits_thoughts,
        }
    }
}
