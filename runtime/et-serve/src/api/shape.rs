//! The two shapes of requests and answers: conversations and plain texts.

use et_llm::{AnswerSpec, Likelihood, Piece, Text, Viewer};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::request::{Parameters, Wanted};
use crate::scheduler::{Ended, Reason};

/// What a prompt asks for.
pub struct Asked {
    /// The prompt.
    pub prompt: et_llm::Prompt,
    /// How the answer is made and read.
    pub answer: AnswerSpec,
}

impl Asked {
    /// A prompt whose answer is text.
    pub fn plain(tokens: Vec<u32>) -> Self {
        let prompt = et_llm::Prompt::plain(tokens);
        Self { prompt, answer: AnswerSpec::default() }
    }
}

/// Makes the tokens of a prompt, with pictures where the model reads pictures.
pub type Prompt = Box<dyn FnOnce(&dyn Text, Option<&dyn Viewer>) -> Result<Asked, ApiError> + Send>;

/// Where in an answer a piece is.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// The name of the answer, for names of calls.
    pub id: &'p str,
    /// The index of the choice.
    pub choice: usize,
    /// The number of calls before.
    pub calls: usize,
    /// The number of characters before.
    pub start: usize,
}

/// A shape of requests and answers.
pub trait Shape: Send + Sync {
    /// The beginning of the names of answers.
    fn prefix(&self) -> &'static str;

    /// The value of `object`, for a whole answer or a piece of a stream.
    fn object(&self, is_piece: bool) -> &'static str;

    /// Takes the prompts, and the parameters that only this shape has.
    ///
    /// # Errors
    /// A mistake in a parameter.
    fn take(&self, parameters: &mut Parameters, wanted: &mut Wanted) -> Result<Vec<Prompt>, ApiError>;

    /// The choice of a whole answer, without index and reason.
    fn whole(&self, pieces: &[Piece], likelihoods: Option<&[Likelihood]>, place: Place<'_>) -> Value;

    /// The choice of a piece, without index and reason.
    fn piece(&self, piece: &Piece, likelihoods: Option<&[Likelihood]>, place: Place<'_>) -> Value;

    /// The choice of a first piece without text, in a shape with such a piece.
    fn first(&self) -> Option<Value>;

    /// The choice of the last piece of a stream, without index and reason.
    fn last(&self) -> Value;
}

/// A choice with index and reason for the end; `has_calls` if the answer calls tools.
pub fn choice(mut choice: Value, index: usize, reason: Option<Reason>, has_calls: bool) -> Value {
    if let Some(fields) = choice.as_object_mut() {
        let word = reason.map(|reason| match reason {
            Reason::Stop if has_calls => "tool_calls",
            Reason::Stop => "stop",
            Reason::Length => "length",
        });
        fields.insert("index".to_owned(), json!(index));
        fields.insert("finish_reason".to_owned(), json!(word));
        fields.entry("logprobs").or_insert(Value::Null);
    }
    choice
}

/// The numbers of tokens of the answers to several prompts, so many to each: these share the prompt.
pub fn usage(ended: &[Ended], answers: usize) -> Value {
    let prompts = || ended.iter().step_by(answers.max(1));
    let (prompt, cached): (usize, usize) =
        (prompts().map(|ended| ended.prompt).sum(), prompts().map(|ended| ended.cached).sum());
    let generated: usize = ended.iter().map(|ended| ended.generated).sum();
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt + generated,
        "prompt_tokens_details": { "cached_tokens": cached },
    })
}
