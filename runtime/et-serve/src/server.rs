//! The parts that all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use et_llm::app::AppSpec;
use et_llm::{Error, Facts, LazyCompiler, Matcher, Random, Sampling, Text};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;

use crate::api::{Asked, Prompt};
use crate::arguments::Options;
use crate::error::ApiError;
use crate::key::Key;
use crate::metrics::Metrics;
use crate::request::{Form, Wanted};
use crate::scheduler::{Event, Failure, Job, Queue};
use crate::tools::Reader;

/// A server of a model.
pub struct Server {
    /// The name of the model.
    pub name: &'static str,
    /// The producer stamp of the binary.
    pub stamp: &'static str,
    /// When the server started, in seconds since 1970.
    pub started: u64,
    /// The defaults of the program file for texts.
    pub facts: Facts,
    /// The jobs of the scheduler.
    pub queue: Arc<Queue>,
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// The key that clients have to send, if any.
    pub key: Option<Key>,
    /// The most time for a client to send a request.
    pub read_timeout: Duration,
    /// The most time of a request.
    timeout: Duration,
    text: Arc<dyn Text>,
    forms: Arc<Forms>,
    vocabulary: usize,
    is_stopping: AtomicBool,
    requests: AtomicU64,
    /// Begins the sequence of names and seeds.
    salt: u64,
}

/// The facts about the model for HTTP.
pub struct Loaded {
    /// The tokenizer.
    pub text: Arc<dyn Text>,
    /// The defaults of the program file for texts.
    pub facts: Facts,
    /// The number of tokens that the model has.
    pub vocabulary: usize,
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

impl Server {
    /// A server.
    pub fn new(
        spec: &AppSpec,
        options: &Options,
        loaded: Loaded,
        (queue, metrics): (Arc<Queue>, Arc<Metrics>),
        key: Option<Key>,
    ) -> Self {
        let since = since_1970();
        Self {
            name: spec.name,
            stamp: spec.stamp,
            started: since.as_secs(),
            queue,
            metrics,
            key,
            read_timeout: options.read_timeout,
            timeout: options.timeout,
            forms: Arc::new(Forms {
                text: Arc::clone(&loaded.text),
                compiler: LazyCompiler::new(spec.constrain, &loaded.facts.stops),
            }),
            facts: loaded.facts,
            text: loaded.text,
            vocabulary: loaded.vocabulary,
            is_stopping: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            salt: since.as_nanos() as u64,
        }
    }

    /// Accepts no further job.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.queue.close();
    }

    /// Whether the server accepts no further job.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Makes a job of each answer to a request; `prompt` makes the tokens of the prompt, on a thread of its own.
    ///
    /// # Errors
    /// A prompt that cannot be answered; a full queue.
    pub async fn begin(&self, wanted: Wanted, prompt: Prompt) -> Result<Running, ApiError> {
        if self.is_stopping() {
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
        let (random, most, deadline) = (self.random(), most.unwrap_or(usize::MAX), came + self.timeout);
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
            self.queue.push(job).map_err(|full| if self.is_stopping() { ApiError::stopping() } else { full.into() })?;
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

    /// Bits that differ between requests and between servers.
    fn random(&self) -> u64 {
        Random::new(self.salt.wrapping_add(self.requests.fetch_add(1, Ordering::Relaxed) << 32)).bits()
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

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
