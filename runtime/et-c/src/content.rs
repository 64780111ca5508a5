//! Prompts and conversations of texts, pictures and recordings, for libraries of models that read pictures or hear.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::{c_char, c_int, c_void};

use et_llm::{Content, Message, Part, Prompt, Session};
use et_module::preprocess::Media;

use crate::language::{self, Answer, Language, Options, Result, See, Viewer};
use crate::pointers::{elements, text};

/// `et_part` in the header.
#[repr(C)]
pub struct GivenPart {
    /// The kind, by its number in the header.
    pub kind: c_int,
    /// A terminated text, or the first of `size` bytes or samples.
    pub data: *const c_void,
    /// The number of bytes or samples; without a meaning for texts.
    pub size: usize,
    /// The width of pixels.
    pub width: usize,
    /// The height of pixels.
    pub height: usize,
    /// The rate of samples in hertz.
    pub rate: u32,
}

/// `et_turn` in the header.
#[repr(C)]
pub struct Turn {
    /// `system`, `user` or `assistant`.
    pub role: *const c_char,
    /// The first of `count` parts.
    pub parts: *const GivenPart,
    /// The number of parts.
    pub count: usize,
}

/// The kinds of parts.
pub const TEXT: c_int = 0;
const PICTURE: c_int = 1;
const PIXELS: c_int = 2;
const SOUND: c_int = 3;
const SAMPLES: c_int = 4;

impl GivenPart {
    /// The content that C describes.
    ///
    /// # Safety
    /// The pointer is as the header says.
    pub(crate) unsafe fn content(&self) -> Result<Content<'_>> {
        // SAFETY: the caller says so.
        let bytes = || unsafe { elements(self.data.cast::<u8>(), self.size) };
        Ok(match self.kind {
            // SAFETY: the same.
            TEXT => Content::Text(unsafe { text(self.data.cast()) }?),
            PICTURE => Content::Picture(Media::File(bytes()?)),
            PIXELS => Content::Picture(Media::Pixels { bytes: bytes()?, width: self.width, height: self.height }),
            SOUND => Content::Sound(Media::File(bytes()?)),
            SAMPLES => {
                let samples = self.data.cast::<f32>();
                if !samples.is_aligned() {
                    return Err("the samples are not at an address for `float`".into());
                }
                // SAFETY: the same, and the address is aligned.
                Content::Sound(Media::Samples { samples: unsafe { elements(samples, self.size) }?, rate: self.rate })
            }
            kind => return Err(format!("there is no kind {kind} of parts").into()),
        })
    }
}

/// Continues a prompt of parts: the implementation of `et_language_continue_parts` in a generated library.
///
/// # Safety
/// Pointers are as the header says.
pub unsafe fn continue_parts(
    language: *mut Language,
    parts: *const GivenPart,
    count: usize,
    options: *const Options,
    see: See,
    context: *mut c_void,
    answer: *mut Answer,
) -> c_int {
    let prompt = |session: &mut Session| {
        // SAFETY: the caller says so.
        let parts = unsafe { read(session, parts, count) }?;
        let prompt = session.prompt_of_parts(&parts)?;
        shown(session, prompt)
    };
    // SAFETY: the caller says so.
    unsafe { language::reply(language, options, Viewer { see, context }, answer, prompt) }
}

/// Answers in a conversation of parts: the implementation of `et_language_answer_parts` in a generated library.
///
/// # Safety
/// Pointers are as the header says.
pub unsafe fn answer_parts(
    language: *mut Language,
    turns: *const Turn,
    count: usize,
    options: *const Options,
    see: See,
    context: *mut c_void,
    answer: *mut Answer,
) -> c_int {
    let prompt = |session: &mut Session| {
        // SAFETY: the caller says so.
        let turns = unsafe { elements(turns, count) }?.iter().map(|turn| unsafe { message(session, turn) });
        let messages = turns.collect::<Result<Vec<Message>>>()?;
        let prompt = session.prompt_of_messages(&messages)?;
        shown(session, prompt)
    };
    // SAFETY: the caller says so.
    unsafe { language::reply(language, options, Viewer { see, context }, answer, prompt) }
}

/// # Safety
/// Pointers are as the header says.
unsafe fn message(session: &Session, turn: &Turn) -> Result<Message> {
    // SAFETY: the caller says so.
    let (role, parts) = unsafe { (language::role(turn.role)?, read(session, turn.parts, turn.count)?) };
    Ok(session.message(role, parts))
}

/// # Safety
/// Pointers are as the header says.
unsafe fn read(session: &Session, parts: *const GivenPart, count: usize) -> Result<Vec<Part>> {
    // SAFETY: the caller says so.
    let parts = unsafe { elements(parts, count) }?;
    // SAFETY: the same.
    parts.iter().map(|part| Ok(session.part(unsafe { part.content() }?)?)).collect()
}

/// Makes the pictures of a prompt those of the next text.
fn shown(session: &mut Session, Prompt { tokens, tiles }: Prompt) -> Result<language::Prompt> {
    session.model.show(&tiles);
    Ok((tokens, Some(session.text()?)))
}
