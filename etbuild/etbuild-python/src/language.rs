//! A language model.

use std::path::PathBuf;
use std::time::Instant;

use et_llm::{Error, Guesses, Hearing, Loading, Message, Prompt, Session, Vision};
use et_module::{DataFiles, FileBytes, Kernels};
use pyo3::prelude::*;

use crate::engines::{ENGINES, kernel, threads};
use crate::exclusive::without_interpreter;
use crate::failure::{failed, language_failed};
use crate::generation::Generation;
use crate::parts::{GivenPart, OwnMessage, own, read};
use crate::speaker::{self, LanguageModel, Options, Speaker};
use crate::transcript::{self, Made, Speech};

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
            vision: Some(Vision { open: et_vision::open, read: et_media::tiles }),
            hearing: Some(Hearing { open: et_hearing::open, read: et_media::sound }),
            constrain: Some(et_constrain::make),
            observer: None,
        };
        let file = FileBytes::open(&path).map_err(|error| failed(py, &error))?;
        let session = Session::load(file, || DataFiles::open(&data), &loading, start);
        let session = session.map_err(|error| language_failed(py, &error))?;
        Ok(Self::new(Speaker { session, current: None, begun: 0 }))
    }

    /// Begins to continue a prompt of parts.
    fn continue_parts(slf: &Bound<'_, Self>, parts: Vec<GivenPart>, options: Options) -> PyResult<Generation> {
        let (py, parts) = (slf.py(), own(parts)?);
        Generation::begin(slf, &options, |session| {
            without_interpreter(py, session, |session| {
                let prompt = session.prompt_of_parts(&read(session, &parts)?)?;
                shown(session, prompt)
            })
        })
    }

    /// Begins to answer in a conversation: messages are pairs of role and parts.
    fn answer(
        slf: &Bound<'_, Self>,
        messages: Vec<(String, Vec<GivenPart>)>,
        options: Options,
    ) -> PyResult<Generation> {
        let messages = messages.into_iter().map(|(role, parts)| OwnMessage::new(&role, parts));
        let (py, messages) = (slf.py(), messages.collect::<PyResult<Vec<OwnMessage>>>()?);
        Generation::begin(slf, &options, |session| {
            without_interpreter(py, session, |session| {
                let messages = messages.iter().map(|message| message.read(session));
                let prompt = session.prompt_of_messages(&messages.collect::<Result<Vec<Message>, Error>>()?)?;
                shown(session, prompt)
            })
        })
    }

    /// The transcript of a recording.
    fn transcribe(&self, py: Python<'_>, recording: GivenPart, speech: Speech, options: Options) -> PyResult<Made> {
        transcript::transcribe(py, &mut self.lock(py)?.session, recording, &speech, &options)
    }

    /// The text that stands for a picture or a sound in a prompt, in a model that reads either.
    #[getter]
    fn mark(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.session.viewer().ok().map(|viewer| viewer.mark().to_owned()))
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

/// Makes the pictures of a prompt those of the next text.
fn shown(session: &mut Session, Prompt { tokens, tiles }: Prompt) -> Result<speaker::Prompt, Error> {
    session.model.show(&tiles);
    Ok((tokens, Some(session.text()?)))
}
