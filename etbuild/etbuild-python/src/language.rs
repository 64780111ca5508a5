//! A language model.
#![allow(unsafe_code)] // Promises that the parts of a model stay together.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use et_llm::{Guesses, Loading, Message, Sampling, Session};
use et_module::{DataFiles, FileBytes, Kernels};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::engines::{ENGINES, kernel, threads};
use crate::exclusive::{Exclusive, Held, Whole};
use crate::failure::{failed, language_failed};
use crate::generation::{Current, Generation};

/// A model and the text that the model continues.
pub struct Speaker {
    pub session: Session,
    pub current: Option<Current>,
    /// How many texts were begun.
    pub begun: u64,
}

// SAFETY: the counters (the file, the arena of the methods, the tokenizer) have their holders in this struct alone. Cells and pointers of
// methods and delegates lead to memory that the methods own. No data belongs to a thread.
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
    repetition_penalty: Option<f32>,
    #[pyo3(item)]
    no_repeat_ngram_size: Option<usize>,
    #[pyo3(item)]
    seed: Option<u64>,
}

impl Options {
    /// The sampling, with the model's defaults for omitted options.
    pub fn sampling(&self, usual: Sampling) -> Sampling {
        Sampling {
            temperature: self.temperature.unwrap_or(usual.temperature),
            top_k: self.top_k.unwrap_or(usual.top_k),
            top_p: self.top_p.unwrap_or(usual.top_p),
            min_p: self.min_p.unwrap_or(usual.min_p),
            repetition_penalty: self.repetition_penalty.unwrap_or(usual.repetition_penalty),
            no_repeat_ngram_size: self.no_repeat_ngram_size.unwrap_or(usual.no_repeat_ngram_size),
            seed: self.seed.unwrap_or(usual.seed),
        }
    }
}

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
        };
        let file = FileBytes::open(&path).map_err(|error| failed(py, &error))?;
        let session = Session::load(file, || DataFiles::open(&data), &loading, start);
        let session = session.map_err(|error| language_failed(py, &error))?;
        Ok(Self(Exclusive::new(Speaker { session, current: None, begun: 0 })))
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

impl LanguageModel {
    pub fn lock(&self, py: Python<'_>) -> PyResult<Held<'_, Speaker>> {
        self.0.lock(py)
    }
}

fn message(role: &str, content: String) -> PyResult<Message> {
    let known = ROLES.into_iter().find(|known| *known == role);
    let known =
        known.ok_or_else(|| PyValueError::new_err(format!("a role is one of {}, not {role}", ROLES.join(", "))))?;
    Ok(Message::new(known, &content))
}

/// The tokens of a prompt, and the decoder of the answer.
pub type Prompt = (Vec<u32>, Option<Rc<dyn et_llm::Text>>);
