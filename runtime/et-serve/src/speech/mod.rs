//! The thread with a model for transcripts, which hears one recording after the other.

mod desk;
mod heard;
mod job;

pub use desk::{SpeechDesk, SpeechModel, run};
pub use job::{Recording, SpeechJob};
