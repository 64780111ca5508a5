//! The counters of the server, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper bounds of the histogram of times to the first token, in milliseconds.
const BOUNDS: [u64; 10] = [5, 10, 25, 50, 100, 250, 500, 1000, 5000, 30_000];

/// The counters of a server since its start.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Answered requests by path and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    prompt: AtomicU64,
    cached: AtomicU64,
    generated: AtomicU64,
    aborted: AtomicU64,
    batched: AtomicU64,
    ended: AtomicU64,
    /// Times to the first token: how many are within each bound and above the bound before, the last without a bound.
    first: [AtomicU64; BOUNDS.len() + 1],
    first_micros: AtomicU64,
}

impl Metrics {
    /// A request to a path was answered.
    pub fn answer(&self, path: &'static str, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((path, status)).or_insert(0) += 1;
    }

    /// A job has ended: the numbers of tokens of the prompt, of tokens in the KV cache, and of new tokens.
    pub fn finish(&self, prompt: usize, cached: usize, generated: usize) {
        for (counter, count) in [(&self.prompt, prompt), (&self.cached, cached), (&self.generated, generated)] {
            counter.fetch_add(count as u64, Ordering::Relaxed);
        }
    }

    /// A client went away before the end of the answer.
    pub fn abort(&self) {
        self.aborted.fetch_add(1, Ordering::Relaxed);
    }

    /// A forward pass has read a token of each of several texts.
    pub fn batch(&self, texts: usize) {
        self.batched.fetch_add(texts as u64, Ordering::Relaxed);
    }

    /// A forward pass for several texts has ended early, for a new request.
    pub fn end_pass(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// The time from a request to the first token of the answer.
    pub fn first_token(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.iter().position(|bound| micros <= bound * 1000).unwrap_or(BOUNDS.len());
        if let Some(count) = self.first.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.first_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The text of all counters, with the numbers of running and waiting jobs.
    pub fn text(&self, (running, waiting): (usize, usize)) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _written = self.write(&mut text, running, waiting);
        text
    }

    fn write(&self, text: &mut String, running: usize, waiting: usize) -> std::fmt::Result {
        head(text, "etbuild_requests_total", "counter", "Answered requests by path and status.")?;
        for ((path, status), count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            writeln!(text, "etbuild_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}")?;
        }
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            ("etbuild_running", "gauge", "Requests with a slot.", running as u64),
            ("etbuild_waiting", "gauge", "Requests that wait for a slot.", waiting as u64),
            ("etbuild_prompt_tokens_total", "counter", "Tokens of prompts.", now(&self.prompt)),
            ("etbuild_cached_tokens_total", "counter", "Tokens of prompts that a KV cache had.", now(&self.cached)),
            ("etbuild_generated_tokens_total", "counter", "New tokens.", now(&self.generated)),
            ("etbuild_batched_tokens_total", "counter", "Tokens read in batches.", now(&self.batched)),
            (
                "etbuild_ended_passes_total",
                "counter",
                "Batches that began anew behind a new request.",
                now(&self.ended),
            ),
            ("etbuild_aborted_total", "counter", "Answers whose client went away.", now(&self.aborted)),
        ] {
            head(text, name, kind, help)?;
            writeln!(text, "{name} {value}")?;
        }
        self.write_first(text)
    }

    fn write_first(&self, text: &mut String) -> std::fmt::Result {
        const NAME: &str = "etbuild_first_token_seconds";
        head(text, NAME, "histogram", "Times from a request to the first token of the answer.")?;
        let mut sum = 0;
        for (index, count) in self.first.iter().enumerate() {
            sum += count.load(Ordering::Relaxed);
            let bound = BOUNDS.get(index).map_or("+Inf".to_owned(), |bound| (*bound as f64 / 1e3).to_string());
            writeln!(text, "{NAME}_bucket{{le=\"{bound}\"}} {sum}")?;
        }
        let seconds = self.first_micros.load(Ordering::Relaxed) as f64 / 1e6;
        writeln!(text, "{NAME}_sum {seconds}\n{NAME}_count {sum}")
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let metrics = Metrics::default();
        [3, 5, 6, 40_000].into_iter().for_each(|millis| metrics.first_token(Duration::from_millis(millis)));
        metrics.answer("/v1/models", 200);
        metrics.finish(7, 3, 2);
        let text = metrics.text((1, 2));
        for line in [
            "etbuild_first_token_seconds_bucket{le=\"0.005\"} 2",
            "etbuild_first_token_seconds_bucket{le=\"0.01\"} 3",
            "etbuild_first_token_seconds_bucket{le=\"30\"} 3",
            "etbuild_first_token_seconds_bucket{le=\"+Inf\"} 4",
            "etbuild_first_token_seconds_sum 40.014",
            "etbuild_requests_total{path=\"/v1/models\",status=\"200\"} 1",
            "etbuild_cached_tokens_total 3",
            "etbuild_waiting 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
