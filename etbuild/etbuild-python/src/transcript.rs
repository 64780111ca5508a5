//! Transcripts of recordings.

use et_llm::Error::NoSound;
use etbuild_run::Error;
use etbuild_run::language::{Content, Heard, LanguageModel, Sampling, Segment, SpokenTask, Transcript, Wanted};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::exclusive::without_interpreter;
use crate::failure::run_failed;
use crate::interrupt::Watch;
use crate::parts::{GivenPart, OwnPart};
use crate::speaker::Options;

/// What a transcript should be, as the caller says.
#[derive(FromPyObject)]
pub struct Speech {
    #[pyo3(item)]
    language: Option<String>,
    #[pyo3(item)]
    task: String,
    #[pyo3(item)]
    timestamps: bool,
    #[pyo3(item)]
    word_timestamps: bool,
    #[pyo3(item)]
    prompt: Option<String>,
    /// Is told each segment.
    #[pyo3(item)]
    on_segment: Option<Py<PyAny>>,
}

/// A word for Python: beginning, end, text.
pub type TimedWord = (f64, f64, String);

/// A segment for Python: beginning, end, text, tokens, words.
pub type Spoken = (f64, f64, String, Vec<u32>, Vec<TimedWord>);

/// A transcript for Python: language, seconds, segments.
pub type Made = (Option<String>, f64, Vec<Spoken>);

impl Speech {
    fn wanted(&self, options: &Options, usual: Sampling) -> PyResult<Wanted> {
        let task = SpokenTask::of(&self.task);
        let unknown = || PyValueError::new_err(format!("a task is transcribe or translate, not {}", self.task));
        Ok(Wanted {
            language: self.language.clone(),
            task: task.ok_or_else(unknown)?,
            timestamps: self.timestamps || self.word_timestamps,
            words: self.word_timestamps,
            prompt: self.prompt.clone(),
            sampling: options.sampling(usual),
            most: options.max_new_tokens,
        })
    }
}

/// Transcribes a recording; Ctrl-C works between tokens.
pub fn transcribe(
    py: Python<'_>,
    model: &mut LanguageModel,
    recording: GivenPart,
    speech: &Speech,
    options: &Options,
) -> PyResult<Made> {
    let recording = recording.own()?;
    let wanted = speech.wanted(options, model.sampling())?;
    let failed = |error| run_failed(py, &error);
    wanted.sampling.checked().map_err(|error| failed(error.into()))?;
    let mut listener = Listener { told: speech.on_segment.as_ref(), watch: Watch::default(), raised: None };
    let hear = |model: &mut LanguageModel| heard(model, &recording, &wanted, &mut listener);
    let made = without_interpreter(py, model, hear);
    let Listener { watch, raised, .. } = listener;
    raised.map_or(Ok(()), Err)?;
    watch.raised()?;
    let Transcript { language, seconds, segments } = made.map_err(failed)?;
    Ok((language, seconds, segments.iter().map(spoken).collect()))
}

/// Who hears of a transcript.
struct Listener<'p> {
    told: Option<&'p Py<PyAny>>,
    watch: Watch,
    raised: Option<PyErr>,
}

impl Listener<'_> {
    /// Whether to go on.
    fn hear(&mut self, heard: Heard<'_>) -> bool {
        if let (Heard::Segment(segment), Some(told)) = (heard, self.told) {
            self.raised = Python::attach(|py| told.call1(py, spoken(segment)).err());
        }
        self.raised.is_none() && self.watch.goes_on()
    }
}

fn heard(
    model: &mut LanguageModel,
    recording: &OwnPart,
    wanted: &Wanted,
    listener: &mut Listener<'_>,
) -> Result<Transcript, Error> {
    let Content::Sound(recording) = recording.content() else { return Err(NoSound.into()) };
    // The error ends the transcript, and the exception of the listener takes its place.
    let mut see = |heard: Heard<'_>| if listener.hear(heard) { Ok(()) } else { Err(NoSound) };
    model.transcribe(recording, wanted, &mut see)
}

fn spoken(Segment { start, end, text, tokens, words }: &Segment) -> Spoken {
    let words = words.iter().map(|word| (word.start, word.end, word.text.clone()));
    (*start, *end, text.clone(), tokens.clone(), words.collect())
}
