//! The queue in front of a model for transcripts, and the work on the jobs.

use std::sync::Arc;

use et_llm::{Error, Facts, Heard, Model, Text, Transcriber, Transcript};
use et_module::preprocess::Media;

use super::heard::HeardText;
use super::{Recording, SpeechJob};
use crate::api::PIECES;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::scheduler::{Failure, Queue};
use crate::serial;

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
    serial::run(queue, metrics, |job| {
        let made = transcript(&mut speech, queue, job)?;
        metrics.finish(0, 0, made.segments.iter().map(|segment| segment.tokens.len()).sum());
        Ok(made)
    });
}

fn transcript(speech: &mut SpeechModel, queue: &Queue<SpeechJob>, job: &SpeechJob) -> Result<Transcript, ApiError> {
    let SpeechModel { model, transcriber, text, .. } = speech;
    let Recording { sound, wanted, pieces } = &job.request;
    let (mut failure, mut heard_text) = (None, HeardText::default());
    let mut see = |heard: Heard<'_>| {
        failure = job.end(queue);
        if let Some(pieces) = pieces {
            let further = heard_text.push(heard);
            // The receiver may be gone, which the job knows.
            let _gone = if further.is_empty() { Ok(()) } else { pieces.send(further) };
        }
        // The error ends the transcript, and nobody reads it.
        if failure.is_some() { Err(Error::NoTokens) } else { Ok(()) }
    };
    let made = transcriber.transcribe(model, &**text, Media::File(sound), wanted, &mut see);
    match (made, failure) {
        (_, Some(failure)) => Err(failure.into()),
        (Ok(transcript), None) => Ok(transcript),
        (Err(error @ Error::Sound(_)), None) => Err(ApiError::parameter("file", error.to_string())),
        (Err(error @ (Error::UnknownLanguage { .. } | Error::OneLanguage)), None) => {
            Err(ApiError::parameter("language", error.to_string()))
        }
        (Err(error @ Error::NoWords), None) => Err(ApiError::parameter(PIECES, error.to_string())),
        (Err(Error::ContextFull { tokens, context }), None) => Err(ApiError::context_full(tokens, context)),
        (Err(error), None) => Err(Failure::from(error).into()),
    }
}
