//! The parts that all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use et_llm::app::AppSpec;
use et_llm::{Error, Facts, Random, Text};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;

use crate::api::Wanted;
use crate::arguments::Options;
use crate::error::ApiError;
use crate::key::Key;
use crate::metrics::Metrics;
use crate::scheduler::{Event, Failure, Job, Queue};

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
    /// The events of the job.
    pub events: UnboundedReceiver<Event>,
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
            facts: loaded.facts,
            queue,
            metrics,
            key,
            read_timeout: options.read_timeout,
            timeout: options.timeout,
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

    /// Makes a job of a request; `tokens` makes the tokens of the prompt, on a thread of its own.
    ///
    /// # Errors
    /// A prompt that cannot be answered; a full queue.
    pub async fn begin(
        &self,
        wanted: Wanted,
        tokens: impl FnOnce(&dyn Text) -> Result<Vec<u32>, Error> + Send + 'static,
    ) -> Result<Running, ApiError> {
        if self.is_stopping() {
            return Err(ApiError::stopping());
        }
        let (came, text) = (Instant::now(), Arc::clone(&self.text));
        let prompt = spawn_blocking(move || tokens(&*text)).await;
        let prompt = prompt.map_err(|_| Failure::Model("the tokenizer failed".to_owned()))??;
        self.check(&prompt)?;
        let (events, receiver) = unbounded_channel();
        let random = self.random();
        let Wanted { mut sampling, seed, most, stops, alternatives } = wanted;
        sampling.seed = seed.unwrap_or(random);
        let (most, deadline) = (most.unwrap_or(usize::MAX), came + self.timeout);
        let job = Job { prompt, sampling, most, stops, alternatives, came, deadline, events };
        self.queue.push(job).map_err(|full| if self.is_stopping() { ApiError::stopping() } else { full.into() })?;
        Ok(Running { id: format!("{random:016x}"), created: since_1970().as_secs(), events: receiver })
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

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
