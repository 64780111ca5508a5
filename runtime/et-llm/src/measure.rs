//! Prefill and decode by the clock.

use std::fmt::{Display, Formatter};

use crate::statistics::Clock;
use crate::{Error, Model, Sampler, Sampling};

/// The amount of work to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Tokens of the prompt.
    pub prefill: usize,
    /// Tokens that are generated behind the prompt.
    pub decode: usize,
    /// The number of rounds; one more round before the rounds is not counted.
    pub rounds: usize,
}

/// The measurement; displays as one JSON object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Milliseconds to load the model.
    pub load_ms: f64,
    /// For each round, milliseconds from the beginning of the prompt to the first new token.
    pub first_token_ms: Vec<f64>,
    /// For each round, tokens of the prompt a second.
    pub prefill_per_second: Vec<f64>,
    /// For each round, new tokens a second: the model reads a token, and the sampler picks the next.
    pub decode_per_second: Vec<f64>,
    /// Threads that executed kernels.
    pub threads: usize,
    /// The most memory that the process ever had in MiB, if the system says.
    pub peak_rss_mib: Option<f64>,
}

/// New tokens of the round that is not counted.
const WARM_UP: usize = 8;

/// Measures a model on the first tokens of `prompt`, repeated where the prompt is too short.
///
/// # Errors
/// Errors of the model, such as more tokens than the context.
pub fn measure(
    model: &mut Model,
    prompt: &[u32],
    sampling: Sampling,
    effort: Effort,
    mut into: Measurement,
) -> Result<Measurement, Error> {
    let prompt: Vec<u32> = prompt.iter().copied().cycle().take(effort.prefill).collect();
    round(model, &prompt, &mut Sampler::new(sampling), effort.decode.min(WARM_UP))?;
    for _ in 0..effort.rounds {
        let (first, rest) = round(model, &prompt, &mut Sampler::new(sampling), effort.decode)?;
        into.first_token_ms.push(first * 1e3);
        into.prefill_per_second.push(prompt.len() as f64 / first);
        into.decode_per_second.push(effort.decode as f64 / rest.max(f64::MIN_POSITIVE));
    }
    into.peak_rss_mib = et_module::peak_rss_mib();
    Ok(into)
}

/// Seconds until the first token is picked, and seconds to read the first token and all further tokens but the last.
fn round(model: &mut Model, prompt: &[u32], sampler: &mut Sampler, decode: usize) -> Result<(f64, f64), Error> {
    model.reset();
    let mut clock = Clock::start();
    model.read(prompt)?;
    let mut token = sampler.pick(model.logits(), model.tokens())?;
    clock.token();
    for _ in 0..decode {
        model.read(&[token])?;
        token = sampler.pick(model.logits(), model.tokens())?;
        clock.token();
    }
    let times = clock.statistics(0.0, prompt.len());
    Ok((times.first.as_secs_f64(), times.rest.as_secs_f64()))
}

impl Display for Measurement {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let list = |numbers: &[f64]| {
            let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:.4}")).collect();
            numbers.join(", ")
        };
        let peak = self.peak_rss_mib.map_or("null".to_owned(), |peak| format!("{peak:.3}"));
        write!(
            formatter,
            r#"{{"load_ms": {:.4}, "first_token_ms": [{}], "prefill_tok_s": [{}], "decode_tok_s": [{}], "threads": {}, "peak_rss_mib": {peak}}}"#,
            self.load_ms,
            list(&self.first_token_ms),
            list(&self.prefill_per_second),
            list(&self.decode_per_second),
            self.threads
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_displays_as_json() {
        let measured = Measurement {
            load_ms: 0.5,
            first_token_ms: vec![20.0],
            prefill_per_second: vec![100.0],
            decode_per_second: vec![10.5],
            threads: 2,
            peak_rss_mib: None,
        };
        let expected = r#"{"load_ms": 0.5000, "first_token_ms": [20.0000], "prefill_tok_s": [100.0000], "decode_tok_s": [10.5000], "threads": 2, "peak_rss_mib": null}"#;
        assert_eq!(measured.to_string(), expected);
    }
}
