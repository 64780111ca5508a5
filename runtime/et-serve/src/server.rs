//! The parts that all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use et_llm::Random;
use et_llm::app::AppSpec;

use crate::arguments::Options;
use crate::encoder::Desk;
use crate::error::ApiError;
use crate::key::Key;
use crate::language::Language;
use crate::metrics::Metrics;
use crate::scheduler::Full;
use crate::speech::SpeechDesk;

/// A server of a model.
pub struct Server {
    /// The name of the model.
    pub name: &'static str,
    /// The producer stamp of the binary.
    pub stamp: &'static str,
    /// When the server started, in seconds since 1970.
    pub started: u64,
    /// The model.
    pub model: Served,
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// The key that clients have to send, if any.
    pub key: Option<Key>,
    /// The origins of pages that may call the server; `*` for all.
    pub origins: Vec<String>,
    /// The most time for a client to send a request.
    pub read_timeout: Duration,
    /// The most time of a request.
    pub timeout: Duration,
    is_stopping: AtomicBool,
    requests: AtomicU64,
    /// Begins the sequence of names and seeds.
    salt: u64,
}

/// A model on a thread of its own.
pub enum Served {
    /// Continues texts.
    Language(Box<Language>),
    /// Reads texts.
    Encoder(Desk),
    /// Hears recordings.
    Speech(SpeechDesk),
}

impl Served {
    /// The names of the adapters behind the usual one.
    pub fn adapters(&self) -> &[String] {
        match self {
            Self::Language(language) => &language.adapters,
            Self::Encoder(_) | Self::Speech(_) => &[],
        }
    }

    /// The numbers of running and of waiting jobs.
    pub fn counts(&self) -> (usize, usize) {
        match self {
            Self::Language(language) => language.queue.counts(),
            Self::Encoder(desk) => desk.queue.counts(),
            Self::Speech(desk) => desk.queue.counts(),
        }
    }

    /// The most tokens of a text, if known.
    pub fn context(&self) -> Option<usize> {
        match self {
            Self::Language(language) => language.facts.context,
            Self::Encoder(desk) => Some(desk.facts.max_tokens),
            Self::Speech(desk) => desk.facts.context,
        }
    }

    /// Ends all jobs, running or waiting.
    pub fn cut(&self) {
        match self {
            Self::Language(language) => language.queue.cut(),
            Self::Encoder(desk) => desk.queue.cut(),
            Self::Speech(desk) => desk.queue.cut(),
        }
    }

    fn close(&self) {
        match self {
            Self::Language(language) => language.queue.close(),
            Self::Encoder(desk) => desk.queue.close(),
            Self::Speech(desk) => desk.queue.close(),
        }
    }
}

impl Server {
    /// A server.
    pub fn new(spec: &AppSpec, options: &Options, model: Served, metrics: Arc<Metrics>, key: Option<Key>) -> Self {
        let since = since_1970();
        Self {
            name: spec.name,
            stamp: spec.stamp,
            started: since.as_secs(),
            model,
            metrics,
            key,
            origins: options.origins.clone(),
            read_timeout: options.read_timeout,
            timeout: options.timeout,
            is_stopping: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            salt: since.as_nanos() as u64,
        }
    }

    /// The names of all models: the model with the usual adapter, and the model with each further one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name).chain(self.model.adapters().iter().map(String::as_str))
    }

    /// Accepts no further job.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.model.close();
    }

    /// Whether the server accepts no further job.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// The answer to a job that the queue refuses.
    pub fn refusal(&self, full: Full) -> ApiError {
        if self.is_stopping() { ApiError::stopping() } else { full.into() }
    }

    /// Bits that differ between requests and between servers.
    pub fn random(&self) -> u64 {
        Random::new(self.salt.wrapping_add(self.requests.fetch_add(1, Ordering::Relaxed) << 32)).bits()
    }
}

/// The time since 1970.
pub fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
