//! Jobs of the scheduler, and the events of a job.

use std::sync::Arc;
use std::time::Instant;

use et_llm::{Likelihood, Matcher, Sampling, Tile};
use tokio::sync::mpsc::UnboundedSender;

use super::failure::Failure;
use super::waiting::Waiting;

/// A text to continue.
pub struct Job {
    /// The tokens of the text, not empty.
    pub prompt: Vec<u32>,
    /// The tiles of the pictures of the text.
    pub tiles: Vec<Arc<Tile>>,
    /// The adapter, of those of [`super::Scheduler`].
    pub adapter: usize,
    /// How tokens are picked.
    pub sampling: Sampling,
    /// Numbers that are added to the logits of tokens.
    pub bias: Vec<(u32, f32)>,
    /// The form of the answer, if any.
    pub matcher: Option<Box<dyn Matcher>>,
    /// The token behind which the form holds, if not from the beginning.
    pub behind: Option<u32>,
    /// Special tokens that are text in this answer.
    pub shown: Vec<(u32, &'static str)>,
    /// The limit of new tokens, at least 1.
    pub most: usize,
    /// The texts that end the answer.
    pub stops: Vec<String>,
    /// How many alternatives of each token are told, with logarithms of probabilities; `None` for no logarithms.
    pub alternatives: Option<usize>,
    /// When the request came.
    pub came: Instant,
    /// When the request has taken too long.
    pub deadline: Instant,
    /// Where events go. A job without a receiver ends. A job has at most an event for each token of the context.
    pub events: UnboundedSender<Event>,
}

impl Waiting for Job {
    fn is_gone(&self) -> bool {
        self.events.is_closed()
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn fail(self, failure: Failure) {
        // The receiver may be gone.
        let _gone = self.events.send(Event::Failed(failure));
    }
}

/// A step of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// New text, which later tokens do not change.
    Piece {
        /// The text; empty where a token makes no text certain.
        text: String,
        /// The logarithms of probabilities, if wanted.
        likelihood: Option<Likelihood>,
    },
    /// The end of the answer; the last event.
    Ended(Ended),
    /// The end without an answer; the last event.
    Failed(Failure),
}

impl Event {
    /// The end for a trace; empty for another event.
    pub const fn end(&self) -> &'static str {
        match self {
            Self::Piece { .. } => "",
            Self::Ended(Ended { reason: Reason::Stop, .. }) => "stop",
            Self::Ended(Ended { reason: Reason::Length, .. }) => "length",
            Self::Failed(Failure::TimedOut) => "timed out",
            // The client went away, or the server ends.
            Self::Failed(Failure::Stopping) => "cut",
            Self::Failed(Failure::Model(_)) => "failed",
        }
    }
}

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The reason.
    pub reason: Reason,
    /// Tokens of the prompt.
    pub prompt: usize,
    /// Tokens of the prompt that the KV cache of the slot had.
    pub cached: usize,
    /// New tokens.
    pub generated: usize,
}

/// The reason for the end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The model ended the text, or the text has a stop text.
    Stop,
    /// The requested number of tokens, or the context, is reached.
    Length,
}
