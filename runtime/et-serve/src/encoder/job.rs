//! Jobs of the thread with an encoder.

use std::time::Instant;

use et_llm::Answer;
use tokio::sync::oneshot::Sender;

use crate::error::ApiError;
use crate::scheduler::{Failure, Waiting};

/// The texts of a request.
pub struct EncoderJob {
    /// The texts in order.
    pub inputs: Vec<Input>,
    /// Whether texts with too many tokens are cut; they are mistakes otherwise.
    pub cuts: bool,
    /// When the request has taken too long.
    pub deadline: Instant,
    /// Where the answers go, one for each text. A job without a receiver ends.
    pub answers: Sender<Result<Vec<Answered>, ApiError>>,
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

impl Waiting for EncoderJob {
    fn is_gone(&self) -> bool {
        self.answers.is_closed()
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn fail(self, failure: Failure) {
        // The receiver may be gone.
        let _gone = self.answers.send(Err(failure.into()));
    }
}
