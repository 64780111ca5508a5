//! Jobs of the thread with an encoder.

use et_llm::Answer;

use crate::serial::SerialJob;

/// A job of an encoder: the answers, one for each text.
pub type EncoderJob = SerialJob<Inputs, Vec<Answered>>;

/// The texts of a request.
pub struct Inputs {
    /// The texts in order.
    pub inputs: Vec<Input>,
    /// Whether texts with too many tokens are cut; they are mistakes otherwise.
    pub cuts: bool,
}

/// What an encoder reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A text.
    Text(String),
    /// A pair of texts.
    Pair(String, String),
    /// Tokens, with special tokens.
    Tokens(Vec<u32>),
}

/// The answer to an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// The tokens that were read.
    pub tokens: usize,
}
