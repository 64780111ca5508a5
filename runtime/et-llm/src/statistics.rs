//! Times and sizes of a continuation.

use std::fmt::{Display, Formatter};
use std::time::{Duration, Instant};

use crate::Guessed;

/// Times and sizes of a continuation; displays as a line for users.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Milliseconds until the model was loaded.
    pub load_ms: f64,
    /// Tokens of the prompt that were read.
    pub prompt: usize,
    /// From the beginning of the prompt to the first new token.
    pub first: Duration,
    /// New tokens.
    pub generated: usize,
    /// From the first new token to the last.
    pub rest: Duration,
    /// The acceptance of draft tokens, with speculative decoding.
    pub guessed: Option<Guessed>,
    /// The most memory that the process ever had in MiB, if the system says.
    pub peak_rss_mib: Option<f64>,
}

/// A clock that notes when tokens come.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    first: Option<Instant>,
    last: Instant,
    tokens: usize,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Self {
        let now = Instant::now();
        Self { start: now, first: None, last: now, tokens: 0 }
    }

    /// A token has come.
    pub fn token(&mut self) {
        self.last = Instant::now();
        self.first.get_or_insert(self.last);
        self.tokens += 1;
    }

    /// The statistics so far.
    pub fn statistics(&self, load_ms: f64, prompt: usize) -> Statistics {
        let first = self.first.unwrap_or(self.last);
        let (first, rest) = (first - self.start, self.last - first);
        let peak_rss_mib = et_module::peak_rss_mib();
        Statistics { load_ms, prompt, first, generated: self.tokens, rest, guessed: None, peak_rss_mib }
    }
}

impl Statistics {
    /// Tokens of the prompt a second.
    pub fn prefill_per_second(&self) -> f64 {
        per_second(self.prompt, self.first)
    }

    /// New tokens a second, behind the first.
    pub fn decode_per_second(&self) -> f64 {
        per_second(self.generated.saturating_sub(1), self.rest)
    }
}

fn per_second(count: usize, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { count as f64 / time.as_secs_f64() }
}

impl Display for Statistics {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let (first, prefill, decode) =
            (self.first.as_secs_f64() * 1e3, self.prefill_per_second(), self.decode_per_second());
        write!(
            formatter,
            "load {:.1} ms, first token {first:.1} ms; {} tokens read, {prefill:.1} a second; {} tokens generated, \
             {decode:.1} a second",
            self.load_ms, self.prompt, self.generated
        )?;
        if let Some(Guessed { passes, proposed, right }) = self.guessed {
            let each = (passes + right) as f64 / passes.max(1) as f64;
            write!(formatter, "; {right} of {proposed} draft tokens accepted, {each:.2} tokens per pass")?;
        }
        self.peak_rss_mib.map_or(Ok(()), |peak| write!(formatter, "; {peak:.1} MiB of memory"))
    }
}
