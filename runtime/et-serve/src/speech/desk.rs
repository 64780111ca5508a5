//! The queue in front of a model for transcripts, and the work on the jobs.

use std::sync::Arc;
use std::time::Instant;

use et_llm::{Error, Facts, Heard, Model, Text, Transcriber, Transcript};

use super::SpeechJob;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::scheduler::{Failure, Queue, Waiting};

/// The model of a server for transcripts, as HTTP sees the model.
pub struct SpeechDesk {
    /// The defaults of the program file for texts.
    pub facts: Facts,
    /// The jobs.
    pub queue: Arc<Queue<SpeechJob>>,
}

/// A loaded model for transcripts.
pub struct SpeechModel {
    /// The decoder.
    pub model: Model,
    /// The maker of transcripts.
    pub transcriber: Box<dyn Transcriber>,
    /// The tokenizer.
    pub text: Arc<dyn Text>,
    /// The defaults of the program file for texts.
    pub facts: Facts,
}

/// Works on jobs until the queue is closed and empty.
pub fn run(mut speech: SpeechModel, queue: &Queue<SpeechJob>, metrics: &Metrics) {
    while let Some(job) = queue.take(true) {
        let transcript = transcript(&mut speech, queue, &job);
        match &transcript {
            Ok(made) => metrics.finish(0, 0, made.segments.iter().map(|segment| segment.tokens.len()).sum()),
            Err(_) if job.is_gone() => metrics.abort(),
            Err(_) => {}
        }
        // The receiver may be gone.
        let _gone = job.answer.send(transcript);
        queue.done();
    }
}

fn transcript(speech: &mut SpeechModel, queue: &Queue<SpeechJob>, job: &SpeechJob) -> Result<Transcript, ApiError> {
    let SpeechModel { model, transcriber, text, .. } = speech;
    let mut failure = None;
    let mut see = |_: Heard<'_>| {
        let now = Instant::now();
        queue.expire(now);
        failure = match () {
            () if queue.is_cut() || job.is_gone() => Some(Failure::Stopping),
            () if job.deadline <= now => Some(Failure::TimedOut),
            () => None,
        };
        // The error ends the transcript, and nobody reads it.
        if failure.is_some() { Err(Error::NoTokens) } else { Ok(()) }
    };
    let made = transcriber.transcribe(model, &**text, &job.sound, &job.wanted, &mut see);
    match (made, failure) {
        (_, Some(failure)) => Err(failure.into()),
        (Ok(transcript), None) => Ok(transcript),
        (Err(error @ Error::Sound(_)), None) => Err(ApiError::parameter("file", error.to_string())),
        (Err(error @ (Error::UnknownLanguage { .. } | Error::OneLanguage)), None) => {
            Err(ApiError::parameter("language", error.to_string()))
        }
        (Err(Error::ContextFull { tokens, context }), None) => Err(ApiError::context_full(tokens, context)),
        (Err(error), None) => Err(Failure::from(error).into()),
    }
}
