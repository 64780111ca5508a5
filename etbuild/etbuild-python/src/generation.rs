//! An answer of a language model that comes piece by piece.

use et_llm::{Continuation, Ended, Error, Limits, Model, Sampler, Session, Step, TextStream};
use pyo3::prelude::*;

use crate::exclusive::without_interpreter;
use crate::failure::{language_failed, usage};
use crate::speaker::{Current, LanguageModel, Options, Prompt, Speaker};

/// A piece of an answer: text, or a token.
#[derive(IntoPyObject)]
pub enum Piece {
    Text(String),
    Token(u32),
}

/// An iterator over the pieces of an answer, which ends with the next text of the model.
#[pyclass(frozen, module = "etbuild._native")]
pub struct Generation {
    model: Py<LanguageModel>,
    number: u64,
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
            let Some(piece) = self.next_piece(py, &mut speaker)? else { return Ok(None) };
            match piece {
                Piece::Text(text) if text.is_empty() => py.check_signals()?,
                piece => return Ok(Some(piece)),
            }
        }
    }

    /// The new tokens so far.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let mut speaker = self.model.get().lock(py)?;
        Ok(self.current(py, &mut speaker)?.continuation.tokens().to_vec())
    }

    /// Why the answer ended: `stop`, `length` or `context`; `None` before.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        let mut speaker = self.model.get().lock(py)?;
        Ok(self.current(py, &mut speaker)?.ended.map(|ended| match ended {
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
        prompt: impl FnOnce(&mut Session) -> Result<Prompt, Error>,
    ) -> PyResult<Self> {
        let py = model.py();
        let mut speaker = model.get().lock(py)?;
        let Speaker { session, current, begun } = &mut *speaker;
        let failed = |error| language_failed(py, &error);
        if session.transcriber.is_some() {
            return Err(failed(Error::NoSound));
        }
        let (tokens, text) = prompt(session).map_err(failed)?;
        let sampling = options.sampling(session.sampling()).checked().map_err(failed)?;
        let constraint = options.constraint()?;
        let matcher = constraint.map(|constraint| session.matcher(&constraint)).transpose().map_err(failed)?;
        let mut sampler = Sampler::new(sampling).biased(options.bias());
        sampler.begin(matcher);
        let tokens = without_interpreter(py, session, |session| session.model.open(tokens)).map_err(failed)?;
        if let Some(context) = session.model.context().filter(|context| tokens.len() > *context) {
            return Err(failed(Error::ContextFull { tokens: tokens.len(), context }));
        }
        let known = session.model.rewind(&tokens);
        let mut pieces = pieces(&session.model, tokens.get(known..).unwrap_or_default());
        let last = pieces.pop().unwrap_or_default();
        pieces.reverse();
        *begun += 1;
        *current = Some(Current {
            number: *begun,
            continuation: Continuation::new(&last, session.speculation.as_mut()),
            pieces,
            sampler,
            max_new_tokens: options.max_new_tokens.unwrap_or(usize::MAX),
            text,
            stream: TextStream::default(),
            ended: None,
        });
        Ok(Self { model: model.clone().unbind(), number: *begun })
    }

    fn current<'s>(&self, py: Python<'_>, speaker: &'s mut Speaker) -> PyResult<&'s mut Current> {
        let current = speaker.current.as_mut().filter(|current| current.number == self.number);
        current.ok_or_else(|| usage(py, "the model continues another text"))
    }

    /// The next piece, perhaps an empty text; `None` at the end.
    fn next_piece(&self, py: Python<'_>, speaker: &mut Speaker) -> PyResult<Option<Piece>> {
        if self.current(py, speaker)?.ended.is_some() {
            return Ok(None);
        }
        self.read_pieces(py, speaker)?;
        let failed = |error| language_failed(py, &error);
        let step = without_interpreter(py, speaker, step).map_err(failed)?;
        let current = self.current(py, speaker)?;
        let piece = match (step, &current.text) {
            (Step::Token(token), None) => Some(Piece::Token(token)),
            (Step::Token(token), Some(text)) => Some(Piece::Text(current.stream.push(&**text, token).map_err(failed)?)),
            (Step::Ended(_), None) => None,
            (Step::Ended(_), Some(text)) => {
                let rest = current.stream.finish(&**text).map_err(failed)?;
                (!rest.is_empty()).then_some(Piece::Text(rest))
            }
        };
        if let Step::Ended(ended) = step {
            current.ended = Some(ended);
        }
        Ok(piece)
    }

    /// Reads the prompt up to the last piece; a signal such as Ctrl-C ends the reading between pieces.
    fn read_pieces(&self, py: Python<'_>, speaker: &mut Speaker) -> PyResult<()> {
        while let Some(piece) = self.current(py, speaker)?.pieces.pop() {
            let read = without_interpreter(py, speaker, |speaker| speaker.session.model.read(&piece).map(|_| ()));
            read.map_err(|error| language_failed(py, &error))?;
            py.check_signals()?;
        }
        Ok(())
    }
}

/// Tokens in pieces that the model reads at once: of a text, or of a picture.
fn pieces(model: &Model, mut tokens: &[u32]) -> Vec<Vec<u32>> {
    let mut pieces = Vec::new();
    while !tokens.is_empty() {
        let (piece, rest) = tokens.split_at(model.chunk(tokens).clamp(1, tokens.len()));
        pieces.push(piece.to_vec());
        tokens = rest;
    }
    pieces
}

/// A step of the current text.
fn step(speaker: &mut Speaker) -> Result<Step, Error> {
    let Speaker { session, current, .. } = speaker;
    let Some(current) = current else { return Ok(Step::Ended(Ended::Stopped)) };
    let limits = Limits { tokens: current.max_new_tokens, stops: &session.facts.stops };
    current.continuation.step(&mut session.model, session.speculation.as_mut(), &mut current.sampler, &limits)
}
