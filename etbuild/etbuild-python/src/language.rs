//! A language model.

use std::path::PathBuf;
use std::time::Instant;

use et_llm::{Guesses, Loading, Message, Session};
use et_module::{DataFiles, FileBytes, Kernels};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::engines::{ENGINES, kernel, threads};
use crate::failure::{failed, language_failed};
use crate::generation::Generation;
use crate::speaker::{LanguageModel, Options, Speaker};

/// The roles that messages may have.
const ROLES: [&str; 3] = ["system", "user", "assistant"];

#[pymethods]
impl LanguageModel {
    /// Loads the program file of a language model.
    #[staticmethod]
    #[pyo3(signature = (path, data = Vec::new(), threads = 0, lookup = false))]
    fn open(py: Python<'_>, path: PathBuf, data: Vec<PathBuf>, threads: usize, lookup: bool) -> PyResult<Self> {
        let start = Instant::now();
        let guesses = lookup.then_some(Guesses::Lookup);
        let loading = Loading {
            kernels: Kernels::Lookup(&kernel),
            engines: ENGINES,
            threads: self::threads(threads)?,
            guesses: guesses.as_ref(),
            text: Some(et_text::make),
            vision: None,
            hearing: None,
            constrain: Some(et_constrain::make),
            observer: None,
        };
        let file = FileBytes::open(&path).map_err(|error| failed(py, &error))?;
        let session = Session::load(file, || DataFiles::open(&data), &loading, start);
        let session = session.map_err(|error| language_failed(py, &error))?;
        Ok(Self::new(Speaker { session, current: None, begun: 0 }))
    }

    /// Begins to continue a text.
    fn continue_text(slf: &Bound<'_, Self>, prompt: &str, options: Options) -> PyResult<Generation> {
        Generation::begin(slf, &options, |session| {
            let text = session.text()?;
            Ok((text.encode(prompt, true)?, Some(text)))
        })
    }

    /// Begins to answer in a conversation: messages are pairs of role and content.
    fn answer(slf: &Bound<'_, Self>, messages: Vec<(String, String)>, options: Options) -> PyResult<Generation> {
        let messages = messages.into_iter().map(|(role, content)| message(&role, content));
        let messages = messages.collect::<PyResult<Vec<Message>>>()?;
        Generation::begin(slf, &options, |session| {
            let text = session.text()?;
            // The template includes the start-of-text token.
            Ok((text.encode(&text.conversation(&messages)?, false)?, Some(text)))
        })
    }

    /// Begins to continue tokens.
    fn continue_tokens(slf: &Bound<'_, Self>, tokens: Vec<u32>, options: Options) -> PyResult<Generation> {
        Generation::begin(slf, &options, |_| Ok((tokens, None)))
    }

    /// The tokens of a text.
    #[pyo3(signature = (text, begins = true))]
    fn encode(&self, py: Python<'_>, text: &str, begins: bool) -> PyResult<Vec<u32>> {
        let tokens = self.lock(py)?.session.text().and_then(|tokenizer| tokenizer.encode(text, begins));
        tokens.map_err(|error| language_failed(py, &error))
    }

    /// The text of tokens.
    fn decode(&self, py: Python<'_>, tokens: Vec<u32>) -> PyResult<String> {
        let text = self.lock(py)?.session.text().and_then(|tokenizer| tokenizer.decode(&tokens));
        text.map_err(|error| language_failed(py, &error))
    }

    /// The most tokens of a text, where that is known.
    #[getter]
    fn context(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        Ok(self.lock(py)?.session.model.context())
    }

    /// The number of tokens that the model knows.
    #[getter]
    fn vocabulary(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.session.model.vocabulary())
    }
}

fn message(role: &str, content: String) -> PyResult<Message> {
    let known = ROLES.into_iter().find(|known| *known == role);
    let known =
        known.ok_or_else(|| PyValueError::new_err(format!("a role is one of {}, not {role}", ROLES.join(", "))))?;
    Ok(Message::new(known, &content))
}
