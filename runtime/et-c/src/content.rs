//! Prompts and conversations of texts, pictures, recordings and calls of tools.
#![expect(unsafe_code, reason = "C hands over pointers, and functions that it calls have unmangled names")]

use std::ffi::{c_char, c_int, c_void};

use et_llm::{Content, Message, Part, Session};
use et_module::preprocess::Media;

use crate::answer::{Answer, Viewer, reply};
use crate::functions::{GivenCall, See};
use crate::held::{Language, Result};
use crate::options::Options;
use crate::pointers::{elements, text, value};
use crate::prompt::{Prompt, role};

/// `et_part` in the header.
#[repr(C)]
pub struct GivenPart {
    /// The kind, by its number in the header.
    pub kind: c_int,
    /// A terminated text, a [`GivenCall`], or the first of `size` bytes or samples.
    pub data: *const c_void,
    /// The number of bytes or samples; without a meaning for texts and calls.
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
    /// `system`, `user`, `assistant` or `tool`.
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
/// A call of a tool.
pub const CALL: c_int = 5;

impl GivenPart {
    /// A text.
    pub(crate) const fn of_text(text: *const c_char) -> Self {
        Self { kind: TEXT, data: text.cast(), size: 0, width: 0, height: 0, rate: 0 }
    }

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
            CALL => return Err("calls are parts of messages of the roles `assistant` and `tool`".into()),
            kind => return Err(format!("there is no kind {kind} of parts").into()),
        })
    }
}

/// Continues a prompt of parts.
///
/// # Safety
/// Pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_continue_parts(
    language: *mut Language,
    parts: *const GivenPart,
    count: usize,
    options: *const Options,
    see: See,
    context: *mut c_void,
    answer: *mut Answer,
) -> c_int {
    let prompt = |session: &mut Session, options: &Options| {
        options.refuse_conversation()?;
        // SAFETY: the caller says so.
        let parts = unsafe { elements(parts, count) }?.iter().map(|part| unsafe { read(session, part) });
        Prompt::of_parts(session, &parts.collect::<Result<Vec<Part>>>()?)
    };
    // SAFETY: the caller says so.
    unsafe { reply(language, options, Viewer { see, context }, answer, prompt) }
}

/// Answers in a conversation of parts.
///
/// # Safety
/// Pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_answer_parts(
    language: *mut Language,
    turns: *const Turn,
    count: usize,
    options: *const Options,
    see: See,
    context: *mut c_void,
    answer: *mut Answer,
) -> c_int {
    let prompt = |session: &mut Session, options: &Options| {
        // SAFETY: the caller says so.
        let messages = unsafe { messages(session, turns, count) }?;
        // SAFETY: the same.
        unsafe { Prompt::of_messages(session, options, &messages) }
    };
    // SAFETY: the caller says so.
    unsafe { reply(language, options, Viewer { see, context }, answer, prompt) }
}

/// The messages of a conversation.
///
/// # Safety
/// Pointers are as the header says.
pub(crate) unsafe fn messages(session: &Session, turns: *const Turn, count: usize) -> Result<Vec<Message>> {
    // SAFETY: the caller says so.
    let turns = unsafe { elements(turns, count) }?;
    // SAFETY: the same.
    turns.iter().map(|turn| unsafe { message(session, turn) }).collect()
}

/// # Safety
/// Pointers are as the header says.
unsafe fn message(session: &Session, turn: &Turn) -> Result<Message> {
    // SAFETY: the caller says so.
    let (role, given) = unsafe { (role(turn.role)?, elements(turn.parts, turn.count)?) };
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    for part in given {
        if part.kind == CALL {
            // SAFETY: the same.
            calls.push(unsafe { value(part.data.cast::<GivenCall>())?.named() }?);
        } else {
            // SAFETY: the same.
            parts.push(unsafe { read(session, part) }?);
        }
    }
    session.message(role, parts).with_calls(&calls).ok_or_else(|| match role {
        "tool" => "a message of the role `tool` has the result of one call".into(),
        _ => "calls are parts of messages of the roles `assistant` and `tool`".into(),
    })
}

/// # Safety
/// Pointers are as the header says.
unsafe fn read(session: &Session, part: &GivenPart) -> Result<Part> {
    // SAFETY: the caller says so.
    Ok(session.part(unsafe { part.content() }?)?)
}
