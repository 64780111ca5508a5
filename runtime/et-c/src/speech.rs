//! Transcripts of recordings, for libraries of models that hear.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::{c_char, c_int, c_void};

use et_llm::{Content, Error, Heard, Segment, SpokenTask, SpokenWord, Wanted};

use crate::answer::{BROKEN_OFF, STOPPED};
use crate::content::GivenPart;
use crate::failure;
use crate::held::{Language, Result};
use crate::options::Options;
use crate::pointers::{optional, put, value};

/// `et_speech` in the header.
#[repr(C)]
pub struct Speech {
    /// The code of the language of the speech; null for the language that the model hears.
    pub language: *const c_char,
    /// Transcript or translation.
    pub task: c_int,
    /// Whether the model ends segments, with times.
    pub timestamps: bool,
    /// Whether words have times.
    pub word_timestamps: bool,
    /// Text that the model takes as the text before; null for none.
    pub prompt: *const c_char,
}

/// `et_word` in the header.
#[repr(C)]
pub struct Word {
    /// The beginning in seconds.
    pub start: f64,
    /// The end in seconds.
    pub end: f64,
    /// The text, which is not terminated.
    pub text: *const c_char,
    /// The bytes of the text.
    pub size: usize,
}

/// `et_segment` in the header.
#[repr(C)]
pub struct SpokenSegment {
    /// The beginning in seconds.
    pub start: f64,
    /// The end in seconds.
    pub end: f64,
    /// The text, which is not terminated.
    pub text: *const c_char,
    /// The bytes of the text.
    pub size: usize,
    /// The words.
    pub words: *const Word,
    /// The number of words.
    pub word_count: usize,
}

/// `et_transcript` in the header.
#[repr(C)]
#[derive(Default)]
pub struct Transcript {
    /// The code of the language, terminated; empty for a model of one language.
    pub language: [c_char; CODE],
    /// The length of the recording in seconds.
    pub seconds: f64,
    /// The number of segments.
    pub segments: usize,
    /// Why the transcript ended.
    pub ended: c_int,
}

/// The bytes of the code of a language, with the zero byte at the end.
const CODE: usize = 16;

/// `et_segment_function` in the header: false ends the transcript.
pub type SeeSegment = Option<unsafe extern "C" fn(context: *mut c_void, segment: *const SpokenSegment) -> bool>;

const TRANSCRIBE: c_int = 0;
const TRANSLATE: c_int = 1;

impl Speech {
    /// # Safety
    /// The texts are null or terminated.
    unsafe fn wanted(&self, options: &Options) -> Result<Wanted> {
        // SAFETY: the caller says so.
        let (language, prompt) = unsafe { (optional(self.language)?, optional(self.prompt)?) };
        let task = match self.task {
            TRANSCRIBE => SpokenTask::Transcribe,
            TRANSLATE => SpokenTask::Translate,
            task => return Err(format!("there is no task {task}").into()),
        };
        // SAFETY: the same.
        if unsafe { options.constraint() }?.is_some() {
            return Err(Error::NotForTranscripts("form of answers").into());
        }
        if options.stop_count > 0 {
            return Err(Error::NotForTranscripts("stop texts").into());
        }
        options.refuse_conversation()?;
        Ok(Wanted {
            language: language.map(str::to_owned),
            task,
            timestamps: self.timestamps || self.word_timestamps,
            words: self.word_timestamps,
            prompt: prompt.map(str::to_owned),
            sampling: options.sampling().checked()?,
            most: Some(options.max_new_tokens),
        })
    }
}

/// Transcribes a recording: the implementation of `et_language_transcribe` in a generated library.
///
/// # Safety
/// Pointers are as the header says.
pub unsafe fn transcribe(
    language: *mut Language,
    sound: *const GivenPart,
    speech: *const Speech,
    options: *const Options,
    see: SeeSegment,
    context: *mut c_void,
    transcript: *mut Transcript,
) -> c_int {
    let done = || -> Result<()> {
        // SAFETY: the caller says so.
        let (language, sound, options) = unsafe { (value(language)?, value(sound)?.content()?, value(options)?) };
        // SAFETY: the same.
        let wanted = unsafe { value(speech)?.wanted(options) }?;
        // SAFETY: the same.
        let made = heard(language, sound, &wanted, &mut |segment| unsafe { show(see, context, segment) })?;
        // SAFETY: the same.
        unsafe { put(transcript, made) };
        Ok(())
    };
    failure::number(done())
}

/// Transcribes, until `see` wants no further segment.
fn heard(
    language: &Language,
    sound: Content<'_>,
    wanted: &Wanted,
    see: &mut dyn FnMut(&Segment) -> bool,
) -> Result<Transcript> {
    let Content::Sound(recording) = sound else { return Err(Error::NoSound.into()) };
    let (mut segments, mut is_wanted) = (0, true);
    let mut hear = |heard: Heard<'_>| {
        let Heard::Segment(segment) = heard else { return Ok(()) };
        segments += 1;
        is_wanted = see(segment);
        if is_wanted { Ok(()) } else { Err(Error::Text(String::new())) }
    };
    let made = language.session()?.transcribe(recording, wanted, &mut hear);
    let (made, ended) = match made {
        Ok(made) => (made, STOPPED),
        Err(_) if !is_wanted => (et_llm::Transcript::default(), BROKEN_OFF),
        Err(error) => return Err(error.into()),
    };
    Ok(Transcript { language: code(made.language.as_deref()), seconds: made.seconds, segments, ended })
}

/// # Safety
/// Function and context belong together.
unsafe fn show(see: SeeSegment, context: *mut c_void, Segment { start, end, text, words, .. }: &Segment) -> bool {
    let word = |word: &SpokenWord| Word {
        start: word.start,
        end: word.end,
        text: word.text.as_ptr().cast(),
        size: word.text.len(),
    };
    let words: Vec<Word> = words.iter().map(word).collect();
    let segment = SpokenSegment {
        start: *start,
        end: *end,
        text: text.as_ptr().cast(),
        size: text.len(),
        words: words.as_ptr(),
        word_count: words.len(),
    };
    // SAFETY: the caller says so, and the arguments have the types of the function.
    see.is_none_or(|see| unsafe { see(context, &raw const segment) })
}

/// The code of a language as a terminated text; empty for a model of one language.
fn code(language: Option<&str>) -> [c_char; CODE] {
    let mut code = [0; CODE];
    let bytes = language.unwrap_or_default().bytes().take(CODE - 1);
    code.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte as c_char);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_languages_are_terminated() {
        let read = |language| code(language).map(|letter| letter as u8);
        assert_eq!(&read(Some("yue"))[..4], b"yue\0");
        assert_eq!((read(None)[0], read(Some("a code of many letters"))[CODE - 1]), (0, 0));
    }
}
