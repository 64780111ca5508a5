//! A language model: texts are continued and answered.
#![expect(unsafe_code, reason = "C hands over pointers, and functions that it calls have unmangled names")]

use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::time::Instant;

use et_llm::app::AppSpec;
use et_llm::{Guesses, Loading, Session};
use et_module::{Adapter, DataFiles, FileBytes, Kernels, checked_threads};

use crate::answer::{Answer, Viewer, reply};
use crate::content::{GivenPart, Turn, et_language_answer_parts};
use crate::failure;
use crate::functions::See;
use crate::held::{BUSY, Language, Result};
use crate::options::Options;
use crate::pointers::{elements, give, paths, put, take, text, value};
use crate::prompt::Prompt;

/// `et_message` in the header.
#[repr(C)]
pub struct Said {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: *const c_char,
    /// The text.
    pub content: *const c_char,
}

/// Loads a language model: the implementation of `et_language_load` in a generated library.
///
/// # Safety
/// Texts are NUL-terminated, and `data` points to `data_count` elements.
pub unsafe fn load(
    spec: &'static AppSpec,
    program: *const c_char,
    data: *const *const c_char,
    data_count: usize,
    threads: usize,
    lookup: bool,
) -> *mut Language {
    // SAFETY: the caller says so.
    let file = || Ok(FileBytes::open(unsafe { text(program) }?.as_ref())?);
    // SAFETY: the same.
    unsafe { load_file(spec, file, (data, data_count), threads, lookup) }
}

/// Loads a language model from a program file in memory, which is copied: the implementation of `et_language_load_bytes` in a generated
/// library.
///
/// # Safety
/// As of [`load`]; `program` points to `size` bytes.
pub unsafe fn load_bytes(
    spec: &'static AppSpec,
    program: *const u8,
    size: usize,
    data: *const *const c_char,
    data_count: usize,
    threads: usize,
    lookup: bool,
) -> *mut Language {
    // SAFETY: the caller says so.
    let file = || Ok(FileBytes::copied(unsafe { elements(program, size) }?));
    // SAFETY: the same.
    unsafe { load_file(spec, file, (data, data_count), threads, lookup) }
}

/// # Safety
/// As of [`load`].
unsafe fn load_file(
    spec: &'static AppSpec,
    file: impl FnOnce() -> Result<FileBytes>,
    (data, data_count): (*const *const c_char, usize),
    threads: usize,
    lookup: bool,
) -> *mut Language {
    let loaded = || {
        let start = Instant::now();
        // SAFETY: the caller says so.
        let data = unsafe { paths(data, data_count) }?;
        let session = open(spec, file()?, &data, (checked_threads(threads)?, lookup), start)?;
        Ok(give(Language::new(session)))
    };
    failure::or::<_, Box<dyn std::error::Error>>(loaded(), std::ptr::null_mut())
}

fn open(
    spec: &AppSpec,
    file: FileBytes,
    data: &[PathBuf],
    (threads, lookup): (usize, bool),
    start: Instant,
) -> Result<Session> {
    let guesses = lookup.then_some(Guesses::Lookup);
    let loading = Loading {
        kernels: Kernels::Selected(spec.kernels),
        engines: spec.engines,
        threads,
        guesses: guesses.as_ref(),
        text: spec.text,
        constrain: spec.constrain,
        vision: spec.vision,
        hearing: spec.hearing,
        observer: None,
    };
    let data = DataFiles::open(data)?;
    Ok(Session::load(file, || Ok(data.clone()), &loading, start)?)
}

/// Frees a language model, except while the model generates.
///
/// # Safety
/// `language` is null or was loaded, and is not used again outside the token function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_free(language: *mut Language) {
    // SAFETY: the caller says so.
    let is_busy = unsafe { value(language) }.is_ok_and(|language| language.session().is_err());
    if is_busy {
        return failure::keep(&BUSY);
    }
    // SAFETY: the caller says so, and no function further up the stack uses the model.
    unsafe { take(language) }
}

/// How tokens are picked where nobody says otherwise.
///
/// # Safety
/// `language` is null or was loaded; `options` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_options(language: *mut Language, options: *mut Options) -> c_int {
    // SAFETY: the caller says so.
    let session = unsafe { value(language) }.and_then(Language::session);
    failure::number(session.map(|session| {
        let max_new_tokens = session.model.context().unwrap_or(usize::MAX);
        // SAFETY: the caller says so.
        unsafe { put(options, Options::new(max_new_tokens, session.sampling())) }
    }))
}

/// The most tokens of a text; 0 where nobody knows.
///
/// # Safety
/// `language` is null or was loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_context(language: *mut Language) -> usize {
    // SAFETY: the caller says so.
    let session = unsafe { value(language) }.and_then(Language::session);
    failure::or(session.map(|session| session.model.context().unwrap_or(0)), 0)
}

/// Puts an adapter in the place of the one before.
///
/// # Safety
/// `language` is null or was loaded, and `path` is NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_use_adapter(language: *mut Language, path: *const c_char) -> c_int {
    // SAFETY: the caller says so.
    unsafe { with_file(language, path, |session, path| Ok(session.exchange(Adapter::open(path)?)?)) }
}

/// Writes the text that the model has read, with its KV cache, to a file.
///
/// # Safety
/// `language` is null or was loaded, and `path` is NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_save(language: *mut Language, path: *const c_char) -> c_int {
    // SAFETY: the caller says so.
    unsafe { with_file(language, path, |session, path| Ok(session.save(path, &[])?)) }
}

/// Goes on behind the text in a file.
///
/// # Safety
/// As of [`et_language_save`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_restore(language: *mut Language, path: *const c_char) -> c_int {
    // SAFETY: the caller says so.
    unsafe { with_file(language, path, |session, path| Ok(session.restore(path).map(drop)?)) }
}

/// # Safety
/// As of [`et_language_save`].
unsafe fn with_file(
    language: *mut Language,
    path: *const c_char,
    act: impl FnOnce(&mut Session, &Path) -> Result<()>,
) -> c_int {
    let done = || -> Result<()> {
        // SAFETY: the caller says so.
        let (language, path) = unsafe { (value(language)?, text(path)?) };
        act(&mut *language.session()?, path.as_ref())
    };
    failure::number(done())
}

/// Continues a text of tokens.
///
/// # Safety
/// Pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_continue_tokens(
    language: *mut Language,
    tokens: *const u32,
    count: usize,
    options: *const Options,
    see: See,
    context: *mut c_void,
    answer: *mut Answer,
) -> c_int {
    let prompt = |_: &mut Session, options: &Options| {
        options.refuse_conversation()?;
        // SAFETY: the caller says so.
        let tokens = unsafe { elements(tokens, count) }?.to_vec();
        Ok(Prompt::of_tokens(tokens))
    };
    // SAFETY: the caller says so.
    unsafe { reply(language, options, Viewer { see, context }, answer, prompt) }
}

/// Continues a text.
///
/// # Safety
/// Pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_continue(
    language: *mut Language,
    prompt: *const c_char,
    options: *const Options,
    see: See,
    context: *mut c_void,
    answer: *mut Answer,
) -> c_int {
    let prompt = |session: &mut Session, options: &Options| {
        options.refuse_conversation()?;
        // SAFETY: the caller says so.
        Prompt::of_text(session, unsafe { text(prompt) }?)
    };
    // SAFETY: the caller says so.
    unsafe { reply(language, options, Viewer { see, context }, answer, prompt) }
}

/// Answers in a conversation.
///
/// # Safety
/// Pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_language_answer(
    language: *mut Language,
    messages: *const Said,
    count: usize,
    options: *const Options,
    see: See,
    context: *mut c_void,
    answer: *mut Answer,
) -> c_int {
    // SAFETY: the caller says so.
    let said = match unsafe { elements(messages, count) } {
        Ok(said) => said,
        Err(problem) => return failure::number(Err(problem)),
    };
    let parts: Vec<GivenPart> = said.iter().map(|said| GivenPart::of_text(said.content)).collect();
    let turns = said.iter().zip(&parts).map(|(said, part)| Turn { role: said.role, parts: part, count: 1 });
    let turns: Vec<Turn> = turns.collect();
    // SAFETY: the same; turns and parts live until the call returns.
    unsafe { et_language_answer_parts(language, turns.as_ptr(), turns.len(), options, see, context, answer) }
}
