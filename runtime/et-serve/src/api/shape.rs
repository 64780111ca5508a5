//! The two shapes of requests and answers: conversations and plain texts.

use et_llm::{Error, Text};
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::wanted::Wanted;
use crate::error::ApiError;
use crate::scheduler::{Ended, Likelihood, Reason};

/// Makes the tokens of a prompt.
pub type Prompt = Box<dyn FnOnce(&dyn Text) -> Result<Vec<u32>, Error> + Send>;

/// A shape of requests and answers.
pub trait Shape: Send + Sync {
    /// The beginning of the names of answers.
    fn prefix(&self) -> &'static str;

    /// The value of `object`, for a whole answer or a piece of a stream.
    fn object(&self, is_piece: bool) -> &'static str;

    /// Takes the prompt, and the parameters that only this shape has.
    ///
    /// # Errors
    /// A mistake in a parameter.
    fn take(&self, parameters: &mut Parameters, wanted: &mut Wanted) -> Result<Prompt, ApiError>;

    /// The choice of a whole answer, without index and reason.
    fn whole(&self, text: &str, likelihoods: Option<&[Likelihood]>) -> Value;

    /// The choice of a piece, without index and reason; `start` counts the characters before.
    fn piece(&self, text: &str, likelihoods: Option<&[Likelihood]>, start: usize) -> Value;

    /// The choice of a first piece without text, in a shape with such a piece.
    fn first(&self) -> Option<Value>;

    /// The choice of the last piece of a stream, without index and reason.
    fn last(&self) -> Value;
}

/// A choice with index and reason for the end.
pub fn choice(mut choice: Value, reason: Option<Reason>) -> Value {
    if let Some(fields) = choice.as_object_mut() {
        let word = reason.map(|reason| match reason {
            Reason::Stop => "stop",
            Reason::Length => "length",
        });
        fields.insert("index".to_owned(), json!(0));
        fields.insert("finish_reason".to_owned(), json!(word));
        fields.entry("logprobs").or_insert(Value::Null);
    }
    choice
}

/// The numbers of tokens of an answer.
pub fn usage(ended: Ended) -> Value {
    let Ended { prompt, cached, generated, .. } = ended;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt + generated,
        "prompt_tokens_details": { "cached_tokens": cached },
    })
}
