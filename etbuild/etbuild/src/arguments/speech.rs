//! The options of `etbuild run` for models that hear.

use std::path::PathBuf;

use clap::Args;

/// Options of models that hear.
#[derive(Args, Clone, Debug)]
pub struct Speech {
    /// Recording for a transcript, for the prompt or for the first message, WAV; may be repeated. In a conversation, the line `/audio FILE`
    /// adds a recording to the next message
    #[arg(long, value_name = "FILE", conflicts_with = "tokens_in")]
    pub audio: Vec<PathBuf>,
    /// Language of the speech, for a transcript: a code such as `en`. The default is the language that the model hears
    #[arg(long, value_name = "CODE")]
    pub language: Option<String>,
    /// Task of a transcript: `transcribe` or `translate`, which gives English
    #[arg(long, value_name = "TASK", value_parser = et_llm::app::task)]
    pub task: Option<et_llm::SpokenTask>,
    /// Print the segments of a transcript with their times, a line each
    #[arg(long)]
    pub timestamps: bool,
    /// Print the words of a transcript with their times, a line each; the program needs `export.word_timestamps`
    #[arg(long)]
    pub word_timestamps: bool,
    /// Transcribe the standard input as sound comes: a WAV file of 16-bit samples, or such samples of one channel at 16 kHz, little-endian
    #[arg(long, conflicts_with_all = ["audio", "tokens_in", "chat"])]
    pub stream: bool,
}
