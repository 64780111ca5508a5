//! The language model of a server, as HTTP sees the model: requests become jobs of the scheduler.

use std::sync::Arc;
use std::time::Instant;

use et_llm::app::AppSpec;
use et_llm::{Error, Facts, LazyCompiler, Matcher, Sampling, Text};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;

use crate::api::{Asked, Prompt};
use crate::error::ApiError;
use crate::request::{Form, Wanted};
use crate::scheduler::{Event, Failure, Job, Queue};
use crate::server::{Server, since_1970};
use crate::tools::Reader;

/// The facts about the model for HTTP.
pub struct Language {
    /// The defaults of the program file for texts.
    pub facts: Facts,
    /// The jobs of the scheduler.
    pub queue: Arc<Queue<Job>>,
    text: Arc<dyn Text>,
    forms: Arc<Forms>,
    /// The number of tokens that the model has.
    vocabulary: usize,
}

/// A request that the scheduler works on.
pub struct Running {
    /// The name of the answer, without a prefix.
    pub id: String,
    /// When the answer began, in seconds since 1970.
    pub created: u64,
    /// The answers.
    pub answers: Vec<(Reader, UnboundedReceiver<Event>)>,
}

impl Language {
    /// A model with a tokenizer, whose jobs wait in `queue`.
    pub fn new(
        spec: &AppSpec,
        (facts, text): (Facts, Arc<dyn Text>),
        vocabulary: usize,
        queue: Arc<Queue<Job>>,
    ) -> Self {
        let compiler = LazyCompiler::new(spec.constrain, &facts.stops);
        let forms = Arc::new(Forms { text: Arc::clone(&text), compiler });
        Self { facts, queue, text, forms, vocabulary }
    }

    /// Makes a job of each answer to a request; `prompt` makes the tokens of the prompt, on a thread of its own.
    ///
    /// # Errors
    /// A prompt that cannot be answered; a full queue.
    pub async fn begin(&self, server: &Server, wanted: Wanted, prompt: Prompt) -> Result<Running, ApiError> {
        if server.is_stopping() {
            return Err(ApiError::stopping());
        }
        let (came, text, forms) = (Instant::now(), Arc::clone(&self.text), Arc::clone(&self.forms));
        let Wanted { sampling, bias, form, answers, seed, most, stops, alternatives } = wanted;
        let asked = spawn_blocking(move || prompt(&*text)).await;
        let asked = asked.map_err(|_| Failure::Model("the tokenizer failed".to_owned()))?;
        let Asked { tokens, behind, shown, reader, form: asked_form } = asked?;
        self.check(&tokens)?;
        let form = asked_form.or(form);
        let matchers = spawn_blocking(move || forms.matchers(form.as_ref(), answers)).await;
        let matchers = matchers.map_err(|_| Failure::Model("the form of the answer failed".to_owned()))??;
        let (random, most, deadline) = (server.random(), most.unwrap_or(usize::MAX), came + server.timeout);
        let first = seed.unwrap_or(random);
        let mut running = Vec::new();
        for (index, matcher) in (0..).zip(matchers) {
            let (events, receiver) = unbounded_channel();
            let job = Job {
                prompt: tokens.clone(),
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
            self.queue.push(job).map_err(|full| server.refusal(full))?;
            running.push((reader.clone(), receiver));
        }
        Ok(Running { id: format!("{random:016x}"), created: since_1970().as_secs(), answers: running })
    }

    fn check(&self, prompt: &[u32]) -> Result<(), ApiError> {
        if prompt.is_empty() {
            return Err(ApiError::invalid("the prompt is empty"));
        }
        if let Some(token) = prompt.iter().find(|token| **token as usize >= self.vocabulary) {
            return Err(Error::UnknownToken { token: *token, vocabulary: self.vocabulary }.into());
        }
        match self.facts.context.filter(|context| prompt.len() >= *context) {
            Some(context) => Err(ApiError::context_full(prompt.len(), context)),
            None => Ok(()),
        }
    }
}

/// Makes matchers of the forms of answers.
struct Forms {
    text: Arc<dyn Text>,
    compiler: LazyCompiler,
}

impl Forms {
    /// A matcher for each answer, all of one compilation.
    fn matchers(&self, form: Option<&Form>, answers: usize) -> Result<Vec<Option<Box<dyn Matcher>>>, ApiError> {
        let compile = |form: &Form| {
            let first = self.compiler.matcher(&form.constraint, || self.text.vocabulary());
            first.map_err(|error| ApiError::parameter(&form.parameter, error.to_string()))
        };
        let first = form.map(compile).transpose()?;
        Ok((0..answers).map(|_| first.as_ref().map(|first| first.again())).collect())
    }
}
