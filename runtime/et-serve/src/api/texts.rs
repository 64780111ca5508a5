//! The protocols of encoders: texts in, numbers out.

use serde_json::{Map, Value, json};

use crate::encoder::{Answered, Input};
use crate::error::ApiError;
use crate::request::Parameters;

/// The most texts of a request, as in OpenAI's protocol.
pub const MOST_TEXTS: usize = 2048;

/// The texts of a request, and what becomes of the answers.
pub struct Texts {
    /// The texts in order.
    pub inputs: Vec<Input>,
    /// Whether texts with too many tokens are cut.
    pub cuts: bool,
    /// Makes the fields of the response of the answers.
    pub shape: Box<dyn FnOnce(Vec<Answered>) -> Map<String, Value> + Send>,
}

/// Takes the texts of a request.
pub type TakeTexts = fn(&mut Parameters) -> Result<Texts, ApiError>;

/// The name of the parameter that allows texts to be cut.
const CUTS: &str = "truncate_prompt_tokens";

/// Takes whether texts with too many tokens are cut, as vLLM's `truncate_prompt_tokens: -1` asks.
pub fn take_cuts(parameters: &mut Parameters) -> Result<bool, ApiError> {
    match parameters.take::<i64>(CUTS)? {
        None => Ok(false),
        Some(-1) => Ok(true),
        Some(_) => Err(ApiError::parameter(CUTS, format!("`{CUTS}` may be -1: the most tokens of the model"))),
    }
}

/// Checks the number of texts.
pub fn check_count(name: &str, count: usize) -> Result<(), ApiError> {
    match count {
        0 => Err(ApiError::parameter(name, format!("`{name}` is empty"))),
        1..=MOST_TEXTS => Ok(()),
        _ => Err(ApiError::parameter(name, format!("`{name}` has {count} texts, but may have {MOST_TEXTS}"))),
    }
}

/// The tokens of all texts, in the form of OpenAI's protocol.
pub fn usage(answers: &[Answered]) -> Value {
    let tokens: usize = answers.iter().map(|answered| answered.tokens).sum();
    json!({ "prompt_tokens": tokens, "total_tokens": tokens })
}
