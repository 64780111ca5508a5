//! Measures how long a method takes.

use std::fmt::{Display, Formatter};
use std::time::{Duration, Instant};

use crate::{Error, Module};

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Executions before the measured executions; the first is reported separately.
    pub warmup: usize,
    /// The least number of measured executions.
    pub iterations: usize,
    /// The least time that the measured executions take together.
    pub least: Duration,
}

impl Default for Effort {
    fn default() -> Self {
        Self { warmup: 3, iterations: 10, least: Duration::ZERO }
    }
}

/// The measurement; displays as one JSON object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bench {
    /// Milliseconds to map the file.
    pub load_ms: f64,
    /// Milliseconds to build the value table.
    pub init_ms: f64,
    /// Milliseconds of the first execution.
    pub first_ms: f64,
    /// Milliseconds of each measured execution.
    pub samples_ms: Vec<f64>,
    /// Threads that executed kernels.
    pub threads: usize,
    /// The most memory that the process ever had, if the system says.
    pub peak_rss_mib: Option<f64>,
}

impl Bench {
    /// Executes the method, whose inputs are set, as often as `effort` says.
    pub fn measure(&mut self, module: &mut Module, effort: Effort) -> Result<(), Error> {
        self.first_ms = time(|| module.execute())?;
        for _ in 1..effort.warmup {
            module.execute()?;
        }
        let start = Instant::now();
        while self.samples_ms.len() < effort.iterations || start.elapsed() < effort.least {
            self.samples_ms.push(time(|| module.execute())?);
        }
        self.peak_rss_mib = peak_rss_mib();
        Ok(())
    }
}

impl Display for Bench {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let samples: Vec<String> = self.samples_ms.iter().map(|sample| format!("{sample:.6}")).collect();
        let peak = self.peak_rss_mib.map_or("null".to_owned(), |peak| format!("{peak:.3}"));
        write!(
            formatter,
            r#"{{"load_ms": {:.6}, "init_ms": {:.6}, "first_ms": {:.6}, "samples_ms": [{}], "threads": {}, "peak_rss_mib": {peak}}}"#,
            self.load_ms,
            self.init_ms,
            self.first_ms,
            samples.join(", "),
            self.threads
        )
    }
}

/// Milliseconds that `run` takes.
fn time<E>(run: impl FnOnce() -> Result<(), E>) -> Result<f64, E> {
    let start = Instant::now();
    run().map(|()| milliseconds(start))
}

/// Milliseconds since `start`.
pub(crate) fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The peak memory of this process in MiB. Linux reports the peak in `/proc`, in KiB; other systems do not.
pub fn peak_rss_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_displays_as_json() {
        let bench = Bench { load_ms: 0.5, samples_ms: vec![1.0, 2.0], threads: 1, ..Bench::default() };
        let expected = r#"{"load_ms": 0.500000, "init_ms": 0.000000, "first_ms": 0.000000, "samples_ms": [1.000000, 2.000000], "threads": 1, "peak_rss_mib": null}"#;
        assert_eq!(bench.to_string(), expected);
    }
}
