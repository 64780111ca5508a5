//! The tokens of texts and of conversations.
#![expect(unsafe_code, reason = "C hands over pointers, and functions that it calls have unmangled names")]

use std::ffi::{c_char, c_int};

use et_llm::Session;

use crate::content::{Turn, messages};
use crate::failure;
use crate::held::{Language, Result};
use crate::options::Options;
use crate::pointers::{elements, fill, text, value};
use crate::prompt::Prompt;

/// The tokens of a text.
///
/// # Safety
/// Pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_encode(
    language: *mut Language,
    given: *const c_char,
    begins: bool,
    tokens: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> c_int {
    // SAFETY: the caller says so.
    let encoded = |session: &mut Session| Ok(session.text()?.encode(unsafe { text(given) }?, begins)?);
    // SAFETY: the same.
    unsafe { tell(language, encoded, (tokens, capacity, count)) }
}

/// The tokens of a conversation, up to the start of the answer.
///
/// # Safety
/// Pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_encode_turns(
    language: *mut Language,
    turns: *const Turn,
    turn_count: usize,
    options: *const Options,
    tokens: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> c_int {
    let encoded = |session: &mut Session| {
        // SAFETY: the caller says so.
        let (messages, options) = unsafe { (messages(session, turns, turn_count)?, value(options)?) };
        // SAFETY: the same.
        Ok(unsafe { Prompt::of_messages(session, options, &messages) }?.tokens)
    };
    // SAFETY: the same.
    unsafe { tell(language, encoded, (tokens, capacity, count)) }
}

/// The text of tokens.
///
/// # Safety
/// Pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_decode(
    language: *mut Language,
    tokens: *const u32,
    token_count: usize,
    decoded: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> c_int {
    let bytes = |session: &mut Session| {
        // SAFETY: the caller says so.
        let tokens = unsafe { elements(tokens, token_count) }?;
        Ok(session.text()?.decode(tokens)?.into_bytes())
    };
    // SAFETY: the same.
    unsafe { tell(language, bytes, (decoded.cast(), capacity, size)) }
}

/// Tells the caller elements, as many as fit, and their number.
///
/// # Safety
/// Pointers are as the header says.
unsafe fn tell<T: Copy>(
    language: *mut Language,
    made: impl FnOnce(&mut Session) -> Result<Vec<T>>,
    (place, capacity, count): (*mut T, usize, *mut usize),
) -> c_int {
    let told = || -> Result<()> {
        // SAFETY: the caller says so.
        let elements = made(&mut *unsafe { value(language) }?.session()?)?;
        // SAFETY: the same.
        Ok(unsafe { fill(&elements, (place, capacity), count) }?)
    };
    failure::number(told())
}
