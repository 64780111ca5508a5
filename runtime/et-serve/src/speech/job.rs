//! Jobs of the thread with a model for transcripts.

use et_llm::{Transcript, Wanted};
use tokio::sync::mpsc::UnboundedSender;

use crate::serial::SerialJob;

/// A job of a model for transcripts.
pub type SpeechJob = SerialJob<Recording, Transcript>;

/// A recording.
pub struct Recording {
    /// The WAV file.
    pub sound: Vec<u8>,
    /// What the transcript should be.
    pub wanted: Wanted,
    /// Where the text goes as it is heard, if anybody waits.
    pub pieces: Option<UnboundedSender<String>>,
}
