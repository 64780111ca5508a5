//! The queue in front of an encoder, and the work on the jobs.

use std::sync::Arc;
use std::time::Instant;

use et_llm::{Encoder, EncoderFacts, Error, Reading};

use super::{Answered, EncoderJob, Input};
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::scheduler::{Failure, Queue, Waiting};

/// The encoder of a server, as HTTP sees the encoder.
pub struct Desk {
    /// The facts about the encoder.
    pub facts: EncoderFacts,
    /// The jobs.
    pub queue: Arc<Queue<EncoderJob>>,
}

/// Works on jobs until the queue is closed and empty.
pub fn run(mut encoder: Encoder, queue: &Queue<EncoderJob>, metrics: &Metrics) {
    while let Some(job) = queue.take(true) {
        let answers = answers(&mut encoder, queue, &job);
        match &answers {
            Ok(answers) => metrics.finish(answers.iter().map(|answered| answered.tokens).sum(), 0, 0),
            Err(_) if job.is_gone() => metrics.abort(),
            Err(_) => {}
        }
        // The receiver may be gone.
        let _gone = job.answers.send(answers);
        queue.done();
    }
}

fn answers(encoder: &mut Encoder, queue: &Queue<EncoderJob>, job: &EncoderJob) -> Result<Vec<Answered>, ApiError> {
    let mut answers = Vec::new();
    for (index, input) in job.inputs.iter().enumerate() {
        let now = Instant::now();
        queue.expire(now);
        if queue.is_cut() || job.is_gone() {
            return Err(Failure::Stopping.into());
        }
        if job.deadline <= now {
            return Err(Failure::TimedOut.into());
        }
        answers.push(answered(encoder, input, job.cuts, index)?);
    }
    Ok(answers)
}

/// The answer to the input with a number.
fn answered(encoder: &mut Encoder, input: &Input, cuts: bool, index: usize) -> Result<Answered, ApiError> {
    let (text, reading) = match input {
        Input::Text(text) => (text.as_str(), encoder.read(text, None)?),
        Input::Pair(text, other) => (text.as_str(), encoder.read(text, Some(other))?),
        Input::Tokens(tokens) => ("", Reading { tokens: tokens.clone(), ..Reading::default() }),
    };
    let (tokens, most) = (reading.tokens.len(), encoder.facts().max_tokens);
    if reading.cut > 0 && !cuts {
        return Err(ApiError::too_long(index, tokens + reading.cut, most));
    }
    let answer = encoder.answer(text, &reading).map_err(|error| match error {
        Error::ContextFull { tokens, context } => ApiError::too_long(index, tokens, context),
        Error::NoTokens | Error::UnknownToken { .. } => error.into(),
        _ => Failure::from(error).into(),
    })?;
    Ok(Answered { answer, tokens })
}
