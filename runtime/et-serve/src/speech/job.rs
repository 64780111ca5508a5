//! Jobs of the thread with a model for transcripts.

use et_llm::{Transcript, Wanted};

use crate::serial::SerialJob;

/// A job of a model for transcripts.
pub type SpeechJob = SerialJob<Recording, Transcript>;

/// A recording.
pub struct Recording {
    /// The WAV file.
    pub sound: Vec<u8>,
    /// What the transcript should be.
    pub wanted: Wanted,
}
