//! Jobs of the thread with a model for transcripts.

use std::time::Instant;

use et_llm::{Transcript, Wanted};
use tokio::sync::oneshot::Sender;

use crate::error::ApiError;
use crate::scheduler::{Failure, Waiting};

/// A recording.
pub struct SpeechJob {
    /// The WAV file.
    pub sound: Vec<u8>,
    /// What the transcript should be.
    pub wanted: Wanted,
    /// When the request has taken too long.
    pub deadline: Instant,
    /// Where the transcript goes. A job without a receiver ends.
    pub answer: Sender<Result<Transcript, ApiError>>,
}

impl Waiting for SpeechJob {
    fn is_gone(&self) -> bool {
        self.answer.is_closed()
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn fail(self, failure: Failure) {
        // The receiver may be gone.
        let _gone = self.answer.send(Err(failure.into()));
    }
}
