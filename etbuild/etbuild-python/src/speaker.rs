//! The state of a language model between calls.
#![allow(unsafe_code)] // Promises that the parts of a model stay together.

use std::collections::BTreeMap;

use etbuild_run::language::{self, Choice, Constraint, Sampling, Tools};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::exclusive::{Exclusive, Held, Whole};

/// A model and the number of texts that were begun.
pub struct Speaker {
    pub model: language::LanguageModel,
    pub begun: u64,
}

// SAFETY: language models move between threads.
unsafe impl Whole for Speaker {}

/// A language model in memory: one text at a time.
#[pyclass(frozen, module = "etbuild._native")]
pub struct LanguageModel(Exclusive<Speaker>);

/// How tokens are picked, as the caller says.
#[derive(FromPyObject)]
pub struct Options {
    #[pyo3(item)]
    pub max_new_tokens: Option<usize>,
    #[pyo3(item)]
    temperature: Option<f32>,
    #[pyo3(item)]
    top_k: Option<usize>,
    #[pyo3(item)]
    top_p: Option<f32>,
    #[pyo3(item)]
    min_p: Option<f32>,
    #[pyo3(item)]
    typical_p: Option<f32>,
    #[pyo3(item)]
    repetition_penalty: Option<f32>,
    #[pyo3(item)]
    frequency_penalty: Option<f32>,
    #[pyo3(item)]
    presence_penalty: Option<f32>,
    #[pyo3(item)]
    logit_bias: Option<BTreeMap<u32, f32>>,
    #[pyo3(item)]
    no_repeat_ngram_size: Option<usize>,
    #[pyo3(item)]
    seed: Option<u64>,
    #[pyo3(item)]
    json_schema: Option<String>,
    #[pyo3(item)]
    regex: Option<String>,
    #[pyo3(item)]
    grammar: Option<String>,
    #[pyo3(item)]
    stop: Vec<String>,
    #[pyo3(item)]
    tools: Option<String>,
    #[pyo3(item)]
    tool_choice: Option<String>,
    #[pyo3(item)]
    template_variables: Option<String>,
    #[pyo3(item)]
    split_thoughts: bool,
    #[pyo3(item)]
    top_logprobs: Option<usize>,
}

impl Options {
    /// The sampling, with the model's defaults for omitted options.
    pub fn sampling(&self, usual: Sampling) -> Sampling {
        Sampling {
            temperature: self.temperature.unwrap_or(usual.temperature),
            top_k: self.top_k.unwrap_or(usual.top_k),
            top_p: self.top_p.unwrap_or(usual.top_p),
            min_p: self.min_p.unwrap_or(usual.min_p),
            typical_p: self.typical_p.unwrap_or(usual.typical_p),
            repetition_penalty: self.repetition_penalty.unwrap_or(usual.repetition_penalty),
            frequency_penalty: self.frequency_penalty.unwrap_or(usual.frequency_penalty),
            presence_penalty: self.presence_penalty.unwrap_or(usual.presence_penalty),
            no_repeat_ngram_size: self.no_repeat_ngram_size.unwrap_or(usual.no_repeat_ngram_size),
            seed: self.seed.unwrap_or(usual.seed),
        }
    }
}

impl Options {
    /// The options, with the model's defaults for omitted ones.
    pub fn all(&self, usual: Sampling) -> PyResult<language::Options> {
        Ok(language::Options {
            max_new_tokens: self.max_new_tokens,
            sampling: Some(self.sampling(usual)),
            logit_bias: self.logit_bias.clone().unwrap_or_default().into_iter().collect(),
            constraint: self.constraint()?,
            stops: self.stop.clone(),
            tools: self.tools()?,
            template_variables: self.template_variables.clone(),
            splits_thoughts: self.split_thoughts,
            top_logprobs: self.top_logprobs,
        })
    }

    /// The tools that the model may call, if any.
    fn tools(&self) -> PyResult<Option<Tools>> {
        let choice = Choice::of(self.tool_choice.as_deref());
        match &self.tools {
            Some(json) => Ok(Some(Tools { choice, ..Tools::new(json.clone()) })),
            None if choice == Choice::Auto => Ok(None),
            None => Err(PyValueError::new_err("tool_choice needs tools")),
        }
    }

    /// The form of the answer, if any.
    fn constraint(&self) -> PyResult<Option<Constraint>> {
        let given = [
            self.json_schema.clone().map(Constraint::JsonSchema),
            self.regex.clone().map(Constraint::Regex),
            self.grammar.clone().map(Constraint::Grammar),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (_, Some(_)) => Err(PyValueError::new_err("json_schema, regex and grammar do not go together")),
            (constraint, None) => Ok(constraint),
        }
    }
}

impl LanguageModel {
    pub const fn new(speaker: Speaker) -> Self {
        Self(Exclusive::new(speaker))
    }

    pub fn lock(&self, py: Python<'_>) -> PyResult<Held<'_, Speaker>> {
        self.0.lock(py)
    }
}
