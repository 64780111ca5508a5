//! The perplexity of a program of a language model on a text, and what the program writes.

use std::path::Path;
use std::time::Instant;

use et_llm::app::foresee;
use et_llm::{Error, Limits, Loading, Sampler, Sampling, Session as Dialogue, generate};
use et_module::{DataFiles, FileBytes, Kernels, default_threads};
use etbuild_diagnostic::{Code, Diagnostic, unreadable};
use etbuild_store::Blob;
use etbuild_system::System;
use serde::Serialize;

use crate::engines::{SIMULATIONS, kernel};
use crate::feature::{Feature, MAKE_TEXT};

/// The most tokens of a text whose probability is measured: a simulation is slow.
const MOST: usize = 512;

/// The tokens of the text that the model continues.
const PROMPT: usize = 16;

/// The tokens that the model writes at most.
const WRITTEN: usize = 100;

/// The lines of a text.
pub struct Passage {
    lines: Vec<String>,
}

/// The perplexity of a program on a text, and what the program writes.
#[derive(Clone, Debug, Serialize)]
pub struct Perplexity {
    /// The number of predicted tokens.
    pub tokens: usize,
    /// `exp` of the mean of `-ln(probability)`.
    pub perplexity: f64,
    /// The likeliest token at each place.
    pub likeliest: Vec<u32>,
    /// The beginning of the text, which the program continues.
    pub prompt: String,
    /// The tokens of the continuation, each the likeliest.
    pub written: Vec<u32>,
    /// The continuation.
    pub text: String,
}

impl Passage {
    /// Reads a text file, a text per line, for the model of a recipe.
    ///
    /// # Errors
    /// A file that cannot be read, or is not a text.
    pub fn read(system: &dyn System, recipe: &Path, file: &Path) -> Result<Self, Vec<Diagnostic>> {
        Feature::Text.require("a text")?;
        let bytes = system.read(file).map_err(|error| vec![unreadable(file, &error)])?;
        let text = String::from_utf8(bytes.to_vec()).map_err(|error| {
            let message = format!("`{}` is not a text for `{}`: {error}", file.display(), recipe.display());
            vec![Diagnostic::error(Code::InputsMismatch, message).help("give a text with `--text FILE`")]
        })?;
        Ok(Self { lines: text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect() })
    }
}

impl Perplexity {
    /// Lets a program predict and continue a text.
    ///
    /// # Errors
    /// A program that cannot be executed here, a text without a token to predict.
    pub fn of(recipe: &Path, program: Blob, passage: &Passage) -> Result<Self, Vec<Diagnostic>> {
        let failed = |error: Error| {
            let message = format!("`{}`: {error}", recipe.display());
            vec![Diagnostic::error(Code::RunFailed, message)]
        };
        let loading = Loading {
            kernels: Kernels::Lookup(&kernel),
            engines: SIMULATIONS,
            threads: default_threads(),
            guesses: None,
            text: MAKE_TEXT,
            constrain: None,
            vision: None,
            hearing: None,
            observer: None,
        };
        let file = FileBytes::owned(program);
        let mut model = Dialogue::load(file, || Ok(DataFiles::default()), &loading, Instant::now()).map_err(failed)?;
        predicted(&mut model, passage).map_err(failed)
    }
}

fn predicted(model: &mut Dialogue, passage: &Passage) -> Result<Perplexity, Error> {
    let text = model.text()?;
    let (mut sum, mut likeliest, mut first) = (0.0, Vec::new(), Vec::new());
    let mut greedy = Sampler::new(Sampling::default());
    for line in &passage.lines {
        if likeliest.len() == MOST {
            break;
        }
        let mut tokens = text.encode(line, true)?;
        tokens.truncate(model.model.context().unwrap_or(tokens.len()));
        let predicts = tokens.len().min(MOST - likeliest.len() + 1);
        foresee(&mut model.model, &tokens[..predicts], |logits, loss| {
            sum += loss;
            likeliest.push(greedy.pick(logits, &[])?);
            Ok(())
        })?;
        if first.is_empty() {
            first = tokens;
        }
    }
    if likeliest.is_empty() {
        return Err(Error::NoTokens);
    }
    first.truncate(PROMPT);
    let written = continued(model, &first)?;
    let tokens = likeliest.len();
    let perplexity = (sum / tokens as f64).exp();
    let (prompt, text) = (text.decode(&first)?, text.decode(&written)?);
    Ok(Perplexity { tokens, perplexity, likeliest, prompt, written, text })
}

/// The likeliest tokens behind a prompt, up to a token that stops the text.
fn continued(Dialogue { model, facts, .. }: &mut Dialogue, prompt: &[u32]) -> Result<Vec<u32>, Error> {
    model.reset();
    let room = model.context().unwrap_or(usize::MAX).saturating_sub(prompt.len());
    let limits = Limits { tokens: WRITTEN.min(room), stops: &facts.stops };
    let mut greedy = Sampler::new(Sampling::default());
    Ok(generate(model, None, prompt, &mut greedy, &limits, &mut |_, _| Ok(()))?.tokens)
}
