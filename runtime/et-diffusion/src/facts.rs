//! Named data of a program file that describes a pipeline.

use std::fmt::Write;
use std::str::FromStr;

use crate::{Betas, Error, Kind, Prediction, SCHEDULERS, Schedule, Settings, Spacing};

/// The key of the named data with [`Facts`].
pub const DIFFUSION_KEY: &str = "etbuild.diffusion";

/// The facts about a pipeline: lines of a word and a text, such as `scheduler ddim`.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// `scheduler`.
    pub scheduler: Kind,
    /// `train_steps`, `betas`, `beta_start`, `beta_end`, `prediction`, `spacing`, `ends_at_one`.
    pub schedule: Schedule,
    /// `latent_scale`: the divisor of the latents in the input of the VAE decoder.
    pub latent_scale: f32,
    /// `tokens`: the number of tokens of a prompt.
    pub tokens: usize,
    /// `padding`: the token that fills up a prompt.
    pub padding: String,
    /// `steps`, `guidance`, `seed`: the settings of a picture where nobody states others.
    pub settings: Settings,
}

/// Values of a kind by their words in a program file.
type Words<T> = [(&'static str, T); 3];

impl Betas {
    /// The names in configurations of `diffusers`.
    pub const NAMES: Words<Self> =
        [("linear", Self::Linear), ("scaled_linear", Self::ScaledLinear), ("squaredcos_cap_v2", Self::SquaredCosine)];
}

impl Prediction {
    /// The names in configurations of `diffusers`.
    pub const NAMES: Words<Self> =
        [("epsilon", Self::Epsilon), ("v_prediction", Self::Velocity), ("sample", Self::Sample)];
}

impl Spacing {
    /// The names in configurations of `diffusers`.
    pub const NAMES: Words<Self> =
        [("leading", Self::Leading), ("trailing", Self::Trailing), ("linspace", Self::Linspace)];
}

impl Facts {
    /// The lines, which [`Self::parse`] reads.
    pub fn to_text(&self) -> String {
        let Self { scheduler, schedule, latent_scale, tokens, padding, settings } = self;
        let Schedule { train_steps, betas, beta_start, beta_end, prediction, spacing, ends_at_one } = schedule;
        let Settings { steps, guidance, seed } = settings;
        let mut text = format!("scheduler {}\ntrain_steps {train_steps}\n", scheduler.name);
        let _ = writeln!(text, "betas {}\nbeta_start {beta_start}\nbeta_end {beta_end}", word(Betas::NAMES, betas));
        let _ = writeln!(
            text,
            "prediction {}\nspacing {}",
            word(Prediction::NAMES, prediction),
            word(Spacing::NAMES, spacing)
        );
        let _ = writeln!(text, "ends_at_one {ends_at_one}\nlatent_scale {latent_scale}");
        let _ = writeln!(text, "tokens {tokens}\npadding {}", padding.replace(['\n', '\r'], " "));
        let _ = writeln!(text, "steps {steps}\nguidance {guidance}\nseed {seed}");
        text
    }

    /// Reads the lines, and skips lines with unknown words.
    ///
    /// # Errors
    /// [`Error::NotAPipeline`] for malformed lines.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let lines = Lines::of(bytes)?;
        let name = lines.text("scheduler")?;
        let scheduler = SCHEDULERS.into_iter().find(|kind| kind.name == name);
        let schedule = Schedule {
            train_steps: lines.value("train_steps")?,
            betas: lines.word("betas", Betas::NAMES)?,
            beta_start: lines.value("beta_start")?,
            beta_end: lines.value("beta_end")?,
            prediction: lines.word("prediction", Prediction::NAMES)?,
            spacing: lines.word("spacing", Spacing::NAMES)?,
            ends_at_one: lines.value("ends_at_one")?,
        };
        let facts = Self {
            scheduler: scheduler.ok_or_else(|| malformed("the scheduler is unknown"))?,
            schedule,
            latent_scale: lines.value("latent_scale")?,
            tokens: lines.value("tokens")?,
            padding: lines.text("padding")?.to_owned(),
            settings: Settings {
                steps: lines.value("steps")?,
                guidance: lines.value("guidance")?,
                seed: lines.value("seed")?,
            },
        };
        let has_range = (1..=MOST).contains(&schedule.train_steps) && (1..=MOST).contains(&facts.tokens);
        let has_range = has_range && facts.latent_scale.is_normal();
        if has_range { Ok(facts) } else { Err(malformed("a number is out of range")) }
    }
}

/// The most timesteps of a training, and the most tokens: no model has more, and a damaged file may have any number.
const MOST: usize = 1 << 20;

/// The lines of a text.
struct Lines<'t>(&'t str);

impl<'t> Lines<'t> {
    fn of(bytes: &'t [u8]) -> Result<Self, Error> {
        std::str::from_utf8(bytes).map(Self).map_err(|_| malformed("the facts are not UTF-8 text"))
    }

    fn text(&self, word: &str) -> Result<&'t str, Error> {
        let found = self.0.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == word);
        found.map(|(_, value)| value).ok_or_else(|| malformed(&format!("`{word}` is missing")))
    }

    fn value<T: FromStr>(&self, word: &str) -> Result<T, Error> {
        self.text(word)?.parse().map_err(|_| malformed(&format!("`{word}` has a wrong value")))
    }

    fn word<T>(&self, word: &str, words: Words<T>) -> Result<T, Error> {
        let name = self.text(word)?;
        let found = words.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value).ok_or_else(|| malformed(&format!("`{word}` is unknown")))
    }
}

fn word<T: PartialEq>(words: Words<T>, value: &T) -> &'static str {
    words.into_iter().find(|(_, known)| known == value).map_or("", |(word, _)| word)
}

fn malformed(reason: &str) -> Error {
    Error::NotAPipeline(format!("`{DIFFUSION_KEY}` is malformed: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_written_and_malformed_lines_are_errors() {
        let facts = Facts {
            scheduler: SCHEDULERS[1],
            schedule: Schedule {
                train_steps: 1000,
                betas: Betas::ScaledLinear,
                beta_start: 0.00085,
                beta_end: 0.012,
                prediction: Prediction::Velocity,
                spacing: Spacing::Trailing,
                ends_at_one: true,
            },
            latent_scale: 0.18215,
            tokens: 77,
            padding: "<|endoftext|>".to_owned(),
            settings: Settings { steps: 20, guidance: 7.5, seed: u64::MAX },
        };
        let text = facts.to_text() + "news 1\n";
        assert_eq!(Facts::parse(text.as_bytes()).unwrap(), facts);
        for (old, new) in [
            ("scheduler ddim", "scheduler dream"),
            ("steps 20", "steps x"),
            ("betas scaled_linear", "betas 1"),
            ("train_steps 1000", "train_steps 0"),
            ("latent_scale 0.18215", "latent_scale 0"),
            ("padding", "filler"),
        ] {
            assert!(Facts::parse(text.replace(old, new).as_bytes()).is_err(), "{new}");
        }
    }
}
