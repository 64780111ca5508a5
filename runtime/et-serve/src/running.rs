//! Requests to a language model become jobs of the scheduler.

use std::time::Instant;

use et_llm::{AnswerReader, AnswerSpec, Sampling};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::api::{Asked, Prompt};
use crate::error::ApiError;
use crate::language::Language;
use crate::request::Wanted;
use crate::scheduler::{Event, Job};
use crate::server::{Server, since_1970};

/// A request that the scheduler works on.
pub struct Running {
    /// The name of the answer, without a prefix.
    pub id: String,
    /// When the answer began, in seconds since 1970.
    pub created: u64,
    /// The answers.
    pub answers: Vec<(Box<dyn AnswerReader>, UnboundedReceiver<Event>)>,
}

impl Running {
    /// Makes a job of each answer to a request; `prompt` makes the tokens of the prompt, for the model with an adapter of
    /// [`Server::names`].
    ///
    /// # Errors
    /// A prompt that cannot be answered; a full queue.
    pub async fn begin(
        server: &Server,
        language: &Language,
        wanted: Wanted,
        (prompt, adapter): (Prompt, usize),
    ) -> Result<Self, ApiError> {
        if server.is_stopping() {
            return Err(ApiError::stopping());
        }
        let came = Instant::now();
        let Wanted { sampling, bias, form, answers, seed, most, stops, alternatives } = wanted;
        let (asked, matchers) = language.read(prompt, form, answers).await?;
        let Asked { prompt, answer: AnswerSpec { behind, shown, reader, .. } } = asked;
        let (random, most, deadline) = (server.random(), most.unwrap_or(usize::MAX), came + server.timeout);
        let first = seed.unwrap_or(random);
        let mut running = Vec::new();
        for (index, matcher) in (0..).zip(matchers) {
            let (events, receiver) = unbounded_channel();
            let job = Job {
                prompt: prompt.tokens.clone(),
                tiles: prompt.tiles.clone(),
                adapter,
                sampling: Sampling { seed: first.wrapping_add(index), ..sampling },
                bias: bias.clone(),
                matcher,
                behind,
                shown: shown.clone(),
                most,
                stops: stops.clone(),
                alternatives,
                came,
                deadline,
                events,
            };
            language.queue.push(job).map_err(|full| server.refusal(full))?;
            running.push((reader.again(), receiver));
        }
        Ok(Self { id: format!("{random:016x}"), created: since_1970().as_secs(), answers: running })
    }
}
