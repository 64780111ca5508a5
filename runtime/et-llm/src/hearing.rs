//! Sound. A crate that a binary has only for a model that hears implements the traits.

use std::io::BufRead;
use std::rc::Rc;

use et_module::preprocess::{Media, ReadSound};
use et_module::{DataFiles, Engines, FileBytes, Kernels};

use crate::{Error, Model, OpenedVision, Sampling, Text};

/// Makes transcripts of recordings.
pub trait Transcriber {
    /// The transcript of a recording by a model; `see` hears of tokens, text and segments as they come.
    ///
    /// # Errors
    /// [`Error::Sound`] for a damaged file, and for another file; [`Error::UnknownLanguage`], [`Error::OneLanguage`];
    /// [`Error::ContextFull`] for a long prompt; errors of the model, of the tokenizer and of `see`.
    fn transcribe(
        &mut self,
        model: &mut Model,
        text: &dyn Text,
        sound: Media<'_>,
        wanted: &Wanted,
        see: SeeHeard<'_>,
    ) -> Result<Transcript, Error>;

    /// The transcript of sound as it comes, up to the end of the input: a WAV file of 16-bit samples, or such samples of one channel at
    /// 16 kHz. Segments have timestamps; `see` hears of a segment once further sound does not change the segment.
    ///
    /// # Errors
    /// As [`Self::transcribe`]; input that cannot be read.
    fn follow(
        &mut self,
        model: &mut Model,
        text: &dyn Text,
        sound: &mut dyn BufRead,
        wanted: &Wanted,
        see: SeeHeard<'_>,
    ) -> Result<Transcript, Error>;
}

/// What a transcript should be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// The code of the language, such as `en`; `None` for the language that the model hears.
    pub language: Option<String>,
    /// The task.
    pub task: SpokenTask,
    /// Whether segments have timestamps by the model. Recordings longer than a window have timestamps in any case.
    pub timestamps: bool,
    /// Whether words have times.
    pub words: bool,
    /// Text that the model takes as the text before.
    pub prompt: Option<String>,
    /// How tokens are picked.
    pub sampling: Sampling,
    /// The most new tokens of a window.
    pub most: Option<usize>,
}

/// What becomes of speech.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpokenTask {
    /// Text in the language of the speech.
    #[default]
    Transcribe,
    /// English text.
    Translate,
}

impl SpokenTask {
    /// The task of a name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "transcribe" => Some(Self::Transcribe),
            "translate" => Some(Self::Translate),
            _ => None,
        }
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transcribe => "transcribe",
            Self::Translate => "translate",
        }
    }
}

/// The text of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The code of the language; `None` for a model of one language.
    pub language: Option<String>,
    /// The length of the recording in seconds.
    pub seconds: f64,
    /// The segments in order.
    pub segments: Vec<Segment>,
}

impl Transcript {
    /// The text of all segments.
    pub fn text(&self) -> String {
        self.segments.iter().map(|segment| segment.text.as_str()).collect()
    }
}

/// A part of a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// The beginning in seconds.
    pub start: f64,
    /// The end in seconds.
    pub end: f64,
    /// The text.
    pub text: String,
    /// The tokens, with timestamps.
    pub tokens: Vec<u32>,
    /// The words with their times, where these are wanted.
    pub words: Vec<SpokenWord>,
}

/// A word of a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpokenWord {
    /// The beginning in seconds.
    pub start: f64,
    /// The end in seconds.
    pub end: f64,
    /// The word, with spaces and punctuation around.
    pub text: String,
}

/// A piece of a transcript in the making.
#[derive(Clone, Copy, Debug)]
pub enum Heard<'h> {
    /// A token, also that of the end, with the logits of the model.
    Token(u32, &'h [f32]),
    /// Further text, of a transcript without timestamps.
    Text(&'h str),
    /// A segment.
    Segment(&'h Segment),
}

/// Called for each piece.
pub type SeeHeard<'s> = &'s mut dyn FnMut(Heard<'_>) -> Result<(), Error>;

/// The audio encoder of a program file.
pub enum OpenedHearing {
    /// Makes transcripts.
    Transcriber(Box<dyn Transcriber>),
    /// Makes prompts of texts and sounds.
    Prompts(OpenedVision),
}

/// Loads the audio encoder of a program file beside the model; `None` for a program file without one.
pub type OpenHearing = fn(
    file: &Rc<FileBytes>,
    data: &dyn Fn() -> Result<DataFiles, et_module::Error>,
    kernels: Kernels<'_>,
    engines: &Engines,
    read: ReadSound,
    model: &Model,
) -> Result<Option<OpenedHearing>, Error>;

/// The parts of a binary that hear.
#[derive(Clone, Copy)]
pub struct Hearing {
    /// The function that loads the audio encoder.
    pub open: OpenHearing,
    /// The function that decodes recordings.
    pub read: ReadSound,
}
