//! The queue in front of an encoder, and the work on the jobs.

use std::sync::Arc;

use et_llm::{Encoder, EncoderFacts, Error, Reading};

use super::{Answered, EncoderJob, Input, Inputs};
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::scheduler::{Failure, Queue};
use crate::serial;

/// The encoder of a server, as HTTP sees the encoder.
pub struct Desk {
    /// The facts about the encoder.
    pub facts: EncoderFacts,
    /// The jobs.
    pub queue: Arc<Queue<EncoderJob>>,
}

/// Works on jobs until the queue is closed and empty.
pub fn run(mut encoder: Encoder, queue: &Queue<EncoderJob>, metrics: &Metrics) {
    serial::run(queue, metrics, |job| {
        let answers = answers(&mut encoder, queue, job)?;
        metrics.finish(answers.iter().map(|answered| answered.tokens).sum(), 0, 0);
        Ok(answers)
    });
}

fn answers(encoder: &mut Encoder, queue: &Queue<EncoderJob>, job: &EncoderJob) -> Result<Vec<Answered>, ApiError> {
    let Inputs { inputs, cuts } = &job.request;
    let mut answers = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        if let Some(failure) = job.end(queue) {
            return Err(failure.into());
        }
        answers.push(answered(encoder, input, *cuts, index)?);
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
