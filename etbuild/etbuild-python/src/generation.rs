//! An answer of a language model that comes piece by piece.

use etbuild_run::Error;
use etbuild_run::language::{self, Advance, Ended};
use pyo3::prelude::*;

use crate::exclusive::without_interpreter;
use crate::failure::{run_failed, usage};
use crate::speaker::{LanguageModel, Options, Speaker};

/// A piece of an answer: text, or a token.
#[derive(IntoPyObject)]
pub enum Piece {
    Text(String),
    Token(u32),
}

/// A token, its text, and the logarithm of its probability.
type Alternative = (u32, String, f32);
/// The picked token, and the most probable tokens.
type Likely = (Alternative, Vec<Alternative>);

fn likely(one: &language::Alternative) -> Alternative {
    (one.token, one.text.clone(), one.logarithm)
}

/// An iterator over the pieces of an answer, which ends with the next text of the model.
#[pyclass(frozen, module = "etbuild._native")]
pub struct Generation {
    model: Py<LanguageModel>,
    number: u64,
    /// Whether the answer is text, and not tokens.
    is_text: bool,
}

#[pymethods]
impl Generation {
    const fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// The next piece: a text that later tokens do not change, or a token where the prompt was tokens.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Piece>> {
        let mut speaker = self.model.get().lock(py)?;
        loop {
            let model = self.current(py, &mut speaker)?;
            let advanced = without_interpreter(py, model, language::LanguageModel::advance);
            match advanced.map_err(|error| run_failed(py, &error))? {
                Advance::Token(token, _) if !self.is_text => return Ok(Some(Piece::Token(token))),
                Advance::Read => {}
                Advance::Token(_, pieces) => {
                    let text = language::Piece::text(pieces);
                    if !text.is_empty() {
                        return Ok(Some(Piece::Text(text)));
                    }
                }
                Advance::Ended(pieces) => {
                    let rest = language::Piece::text(pieces);
                    return Ok((!rest.is_empty()).then_some(Piece::Text(rest)));
                }
            }
            py.check_signals()?;
        }
    }

    /// The new tokens so far.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let mut speaker = self.model.get().lock(py)?;
        Ok(self.current(py, &mut speaker)?.new_tokens().to_vec())
    }

    /// What the model has thought so far.
    #[getter]
    fn thoughts(&self, py: Python<'_>) -> PyResult<String> {
        let mut speaker = self.model.get().lock(py)?;
        Ok(self.current(py, &mut speaker)?.thoughts().to_owned())
    }

    /// The calls of tools so far: id, name and arguments of each.
    #[getter]
    fn calls(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String)>> {
        let mut speaker = self.model.get().lock(py)?;
        let calls = self.current(py, &mut speaker)?.calls().iter();
        Ok(calls.map(|(id, call)| (id.clone(), call.name.clone(), call.arguments.clone())).collect())
    }

    /// How probable the new tokens so far are, each with the most probable tokens: token, text and logarithm.
    #[getter]
    fn logprobs(&self, py: Python<'_>) -> PyResult<Vec<Likely>> {
        let mut speaker = self.model.get().lock(py)?;
        let likelihoods = self.current(py, &mut speaker)?.likelihoods().iter();
        Ok(likelihoods.map(|one| (likely(&one.picked), one.alternatives.iter().map(likely).collect())).collect())
    }

    /// Why the answer ended: `stop`, `length` or `context`; `None` before.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        let mut speaker = self.model.get().lock(py)?;
        Ok(self.current(py, &mut speaker)?.ended().map(|ended| match ended {
            Ended::Stopped | Ended::Complete => "stop",
            Ended::Enough => "length",
            Ended::ContextFull => "context",
        }))
    }
}

impl Generation {
    /// Begins a text. The KV cache keeps the common prefix with the text before.
    pub fn begin(
        model: &Bound<'_, LanguageModel>,
        options: &Options,
        is_text: bool,
        begin: impl FnOnce(&mut language::LanguageModel, &language::Options) -> Result<(), Error>,
    ) -> PyResult<Self> {
        let py = model.py();
        let mut speaker = model.get().lock(py)?;
        let options = options.all(speaker.model.sampling())?;
        let begun = without_interpreter(py, &mut speaker.model, |model| begin(model, &options));
        // Earlier answers have ended also where this one fails to begin.
        speaker.begun += 1;
        begun.map_err(|error| run_failed(py, &error))?;
        Ok(Self { model: model.clone().unbind(), number: speaker.begun, is_text })
    }

    /// The model, which continues the text of this answer.
    fn current<'s>(&self, py: Python<'_>, speaker: &'s mut Speaker) -> PyResult<&'s mut language::LanguageModel> {
        let current = (speaker.begun == self.number).then_some(&mut speaker.model);
        current.ok_or_else(|| usage(py, "the model continues another text"))
    }
}
