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
    /// The number of answers to a prompt.
    pub each: usize,
    /// The answers, those to the first prompt first.
    pub answers: Vec<(Box<dyn AnswerReader>, UnboundedReceiver<Event>)>,
}

impl Running {
    /// Makes a job of each answer to a request, prompt by prompt; `prompts` make the tokens, for the model with an adapter of
    /// [`Server::names`]. The seeds of the answers to a prompt are those that the prompt alone has.
    ///
    /// # Errors
    /// A prompt that cannot be answered; a full queue.
    pub async fn begin(
        server: &Server,
        language: &Language,
        wanted: Wanted,
        (prompts, adapter): (Vec<Prompt>, usize),
    ) -> Result<Self, ApiError> {
        if server.is_stopping() {
            return Err(ApiError::stopping());
        }
        let came = Instant::now();
        let Wanted { sampling, bias, form, answers, seed, most, stops, alternatives } = wanted;
        let (random, most, deadline) = (server.random(), most.unwrap_or(usize::MAX), came + server.timeout);
        let (first, mut running) = (seed.unwrap_or(random), Vec::new());
        for (Asked { prompt, answer }, matchers) in language.read(prompts, form, answers).await? {
            let AnswerSpec { behind, shown, reader, .. } = answer;
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
        }
        Ok(Self { id: format!("{random:016x}"), created: since_1970().as_secs(), each: answers, answers: running })
    }
}
