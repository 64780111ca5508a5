//! A language model.

use std::path::PathBuf;

use etbuild_run::Loader;
use pyo3::prelude::*;

use crate::engines::threads;
use crate::failure::run_failed;
use crate::generation::Generation;
use crate::parts::{GivenMessage, GivenPart, OwnMessage, contents, own};
use crate::speaker::{LanguageModel, Options, Speaker};
use crate::transcript::{self, Made, Speech};

#[pymethods]
impl LanguageModel {
    /// Loads the program file of a language model.
    #[staticmethod]
    #[pyo3(signature = (path, data = Vec::new(), threads = 0, lookup = false))]
    fn open(py: Python<'_>, path: PathBuf, data: Vec<PathBuf>, threads: usize, lookup: bool) -> PyResult<Self> {
        let threads = self::threads(threads)?;
        // Other threads of Python go on while a large file is read.
        let model = py.detach(|| {
            let loader = data.into_iter().fold(Loader::new().threads(threads), Loader::data);
            let loader = if lookup { loader.guess_from_text() } else { loader };
            loader.open_language_model(path)
        });
        let model = model.map_err(|error| run_failed(py, &error))?;
        Ok(Self::new(Speaker { model, begun: 0 }))
    }

    /// Begins to continue a prompt of parts.
    fn continue_parts(slf: &Bound<'_, Self>, parts: Vec<GivenPart>, options: Options) -> PyResult<Generation> {
        let parts = own(parts)?;
        Generation::begin(slf, &options, true, |model, options| model.begin_parts(&contents(&parts), options))
    }

    /// Begins to answer in a conversation.
    fn answer(slf: &Bound<'_, Self>, messages: Vec<GivenMessage>, options: Options) -> PyResult<Generation> {
        let messages = messages.into_iter().map(OwnMessage::new).collect::<PyResult<Vec<OwnMessage>>>()?;
        Generation::begin(slf, &options, true, |model, options| {
            model.begin_turns(&messages.iter().map(OwnMessage::turn).collect::<Vec<_>>(), options)
        })
    }

    /// The transcript of a recording.
    fn transcribe(&self, py: Python<'_>, recording: GivenPart, speech: Speech, options: Options) -> PyResult<Made> {
        transcript::transcribe(py, &mut self.lock(py)?.model, recording, &speech, &options)
    }

    /// The text that stands for a picture or a sound in a prompt, in a model that reads either.
    #[getter]
    fn mark(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.model.mark())
    }

    /// Begins to continue tokens.
    fn continue_tokens(slf: &Bound<'_, Self>, tokens: Vec<u32>, options: Options) -> PyResult<Generation> {
        Generation::begin(slf, &options, false, |model, options| model.begin_tokens(&tokens, options))
    }

    /// The tokens of a text.
    #[pyo3(signature = (text, begins = true))]
    fn encode(&self, py: Python<'_>, text: &str, begins: bool) -> PyResult<Vec<u32>> {
        self.lock(py)?.model.encode(text, begins).map_err(|error| run_failed(py, &error))
    }

    /// The tokens of a conversation.
    fn encode_messages(&self, py: Python<'_>, messages: Vec<GivenMessage>, options: Options) -> PyResult<Vec<u32>> {
        let messages = messages.into_iter().map(OwnMessage::new).collect::<PyResult<Vec<OwnMessage>>>()?;
        let turns: Vec<_> = messages.iter().map(OwnMessage::turn).collect();
        let model = &mut self.lock(py)?.model;
        let options = options.all(model.sampling())?;
        model.encode_turns(&turns, &options).map_err(|error| run_failed(py, &error))
    }

    /// The text of tokens.
    fn decode(&self, py: Python<'_>, tokens: Vec<u32>) -> PyResult<String> {
        self.lock(py)?.model.decode(&tokens).map_err(|error| run_failed(py, &error))
    }

    /// Puts an adapter in the place of the one before.
    fn use_adapter(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.lock(py)?.model.use_adapter(path).map_err(|error| run_failed(py, &error))
    }

    /// Writes the text that the model has read, with its KV cache, to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.lock(py)?.model.save(path).map_err(|error| run_failed(py, &error))
    }

    /// Goes on behind the text in a file; answers before have ended.
    fn restore(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut speaker = self.lock(py)?;
        speaker.begun += 1;
        speaker.model.restore(path).map_err(|error| run_failed(py, &error))
    }

    /// The most tokens of a text, where that is known.
    #[getter]
    fn context(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        Ok(self.lock(py)?.model.context())
    }

    /// The number of tokens that the model knows.
    #[getter]
    fn vocabulary(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.model.vocabulary())
    }
}
