//! A language model: texts are continued and answered.
#![expect(unsafe_code, reason = "C hands over pointers, and functions that it calls have unmangled names")]

use std::cell::{RefCell, RefMut};
use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use et_llm::app::AppSpec;
use et_llm::{
    Constraint, Ended, Error, Guesses, Limits, Loading, Message, Picked, Sampler, Sampling, Session, Text, TextStream,
    generate,
};
use et_module::{DataFiles, FileBytes, Kernels, checked_threads};

use crate::failure;
use crate::pointers::{elements, give, paths, put, take, text, value};

/// A loaded language model: `et_language` in the header.
pub struct Language {
    /// Borrowed while the model generates, so that calls from the token function are refused.
    session: RefCell<Session>,
}

const BUSY: &str = "the language model is generating: its token function must not call the model's functions";

impl Language {
    pub(crate) fn session(&self) -> Result<RefMut<'_, Session>, &'static str> {
        self.session.try_borrow_mut().map_err(|_| BUSY)
    }
}

/// `et_options` in the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    /// The most tokens of an answer.
    pub max_new_tokens: usize,
    /// What logits are divided by; 0 takes the most probable token each time.
    pub temperature: f32,
    /// The number of the most probable tokens to pick from; 0 for all.
    pub top_k: usize,
    /// The share of the probability that the tokens to pick from make up; 1 for all.
    pub top_p: f32,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The least share of the largest probability; 0 for any.
    pub min_p: f32,
    /// Divides positive logits of tokens in the text, and multiplies negative ones; 1 for none.
    pub repetition_penalty: f32,
    /// The length of sequences that do not come twice; 0 for none.
    pub no_repeat_ngram_size: usize,
    /// The share of the tokens nearest to the entropy; 1 for all.
    pub typical_p: f32,
    /// Is subtracted from logits of tokens in the answer, for each time; 0 for none.
    pub frequency_penalty: f32,
    /// Is subtracted from logits of tokens in the answer, once; 0 for none.
    pub presence_penalty: f32,
    /// A JSON schema that accepts the answer; null for any answer.
    pub json_schema: *const c_char,
    /// A regular expression that matches the answer; null for any answer.
    pub regex: *const c_char,
    /// A grammar of the answer, in Lark's syntax; null for any answer.
    pub grammar: *const c_char,
}

impl Options {
    const fn new(max_new_tokens: usize, sampling: Sampling) -> Self {
        Self {
            max_new_tokens,
            temperature: sampling.temperature,
            top_k: sampling.top_k,
            top_p: sampling.top_p,
            seed: sampling.seed,
            min_p: sampling.min_p,
            repetition_penalty: sampling.repetition_penalty,
            no_repeat_ngram_size: sampling.no_repeat_ngram_size,
            typical_p: sampling.typical_p,
            frequency_penalty: sampling.frequency_penalty,
            presence_penalty: sampling.presence_penalty,
            json_schema: std::ptr::null(),
            regex: std::ptr::null(),
            grammar: std::ptr::null(),
        }
    }

    pub(crate) const fn sampling(&self) -> Sampling {
        Sampling {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            typical_p: self.typical_p,
            repetition_penalty: self.repetition_penalty,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            no_repeat_ngram_size: self.no_repeat_ngram_size,
            seed: self.seed,
        }
    }

    /// The form of the answer, if any.
    ///
    /// # Safety
    /// The texts are terminated.
    pub(crate) unsafe fn constraint(&self) -> Result<Option<Constraint>> {
        type Make = fn(String) -> Constraint;
        let given: [(*const c_char, Make); 3] = [
            (self.json_schema, Constraint::JsonSchema),
            (self.regex, Constraint::Regex),
            (self.grammar, Constraint::Grammar),
        ];
        let mut given = given.into_iter().filter(|(pointer, _)| !pointer.is_null());
        let Some((pointer, make)) = given.next() else { return Ok(None) };
        if given.next().is_some() {
            return Err("`json_schema`, `regex` and `grammar` do not go together".into());
        }
        // SAFETY: the caller says so.
        Ok(Some(make(unsafe { text(pointer) }?.to_owned())))
    }
}

/// `et_message` in the header.
#[repr(C)]
pub struct Said {
    /// `system`, `user` or `assistant`.
    pub role: *const c_char,
    /// The text.
    pub content: *const c_char,
}

/// `et_answer` in the header.
#[repr(C)]
#[derive(Default)]
pub struct Answer {
    /// The number of new tokens.
    pub new_tokens: usize,
    /// Why the answer ended.
    pub ended: c_int,
}

/// `et_token_function` in the header: false ends the answer.
pub type See = Option<unsafe extern "C" fn(context: *mut c_void, token: u32, text: *const c_char, size: usize) -> bool>;

/// Whom new tokens are shown to.
#[derive(Clone, Copy)]
pub(crate) struct Viewer {
    pub see: See,
    pub context: *mut c_void,
}

pub(crate) type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

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
        Ok(give(Language { session: RefCell::new(session) }))
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
    Ok(Session::load(file, || DataFiles::open(data), &loading, start)?)
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
    // SAFETY: the caller says so.
    unsafe {
        reply(language, options, Viewer { see, context }, answer, |_| Ok((elements(tokens, count)?.to_vec(), None)))
    }
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
    let prompt = |session: &mut Session| {
        let tokenizer = session.text()?;
        // SAFETY: the caller says so.
        let tokens = tokenizer.encode(unsafe { text(prompt) }?, true)?;
        Ok((tokens, Some(tokenizer)))
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
    let conversation = |session: &mut Session| {
        let tokenizer = session.text()?;
        // SAFETY: the caller says so.
        let messages = unsafe { elements(messages, count) }?.iter().map(|said| unsafe { message(said) });
        let messages = messages.collect::<Result<Vec<Message>>>()?;
        // The template includes the start-of-text token.
        let tokens = tokenizer.encode(&tokenizer.conversation(&messages)?, false)?;
        Ok((tokens, Some(tokenizer)))
    };
    // SAFETY: the caller says so.
    unsafe { reply(language, options, Viewer { see, context }, answer, conversation) }
}

/// The roles that messages may have.
const ROLES: [&str; 3] = ["system", "user", "assistant"];

/// # Safety
/// The texts are terminated.
unsafe fn message(said: &Said) -> Result<Message> {
    // SAFETY: the caller says so.
    let (role, content) = unsafe { (role(said.role)?, text(said.content)?) };
    Ok(Message::new(role, content))
}

/// A role that messages may have.
///
/// # Safety
/// The text is terminated.
pub(crate) unsafe fn role(name: *const c_char) -> Result<&'static str> {
    // SAFETY: the caller says so.
    let name = unsafe { text(name) }?;
    let role = ROLES.into_iter().find(|known| *known == name);
    Ok(role.ok_or("a role is none of `system`, `user` and `assistant`")?)
}

/// The tokens of the prompt, and the decoder of the answer.
pub(crate) type Prompt = (Vec<u32>, Option<Rc<dyn Text>>);

/// # Safety
/// As the header says.
pub(crate) unsafe fn reply(
    language: *mut Language,
    options: *const Options,
    viewer: Viewer,
    answer: *mut Answer,
    prompt: impl FnOnce(&mut Session) -> Result<Prompt>,
) -> c_int {
    let done = || -> Result<()> {
        // SAFETY: the caller says so.
        let (language, options) = unsafe { (value(language)?, *value(options)?) };
        let mut session = language.session()?;
        if session.transcriber.is_some() {
            return Err(Error::NoSound.into());
        }
        let (tokens, tokenizer) = prompt(&mut session)?;
        // SAFETY: the caller says so.
        let constraint = unsafe { options.constraint() }?;
        let mut sampler = Sampler::new(options.sampling().checked()?);
        sampler.begin(constraint.map(|constraint| session.matcher(&constraint)).transpose()?);
        let tokens = session.model.open(tokens)?;
        let text = Prompted { tokens: &tokens, text: tokenizer.as_deref() };
        let made = run(&mut session, text, &mut sampler, options.max_new_tokens, viewer)?;
        // SAFETY: the caller says so.
        unsafe { put(answer, made) };
        Ok(())
    };
    failure::number(done())
}

/// How an answer ended, for C.
pub(crate) const STOPPED: c_int = 0;
const ENOUGH: c_int = 1;
const CONTEXT_FULL: c_int = 2;
pub(crate) const BROKEN_OFF: c_int = 3;

/// The tokens of a prompt, and the decoder of the answer.
#[derive(Clone, Copy)]
struct Prompted<'p> {
    tokens: &'p [u32],
    text: Option<&'p dyn Text>,
}

/// Runs the model. The KV cache keeps the common prefix with the previous text.
fn run(
    session: &mut Session,
    Prompted { tokens, text }: Prompted<'_>,
    sampler: &mut Sampler,
    most: usize,
    viewer: Viewer,
) -> Result<Answer> {
    let Session { model, speculation, facts, .. } = session;
    let known = model.rewind(tokens);
    let limits = Limits { tokens: most, stops: &facts.stops };
    let (mut stream, mut new_tokens, mut wanted) = (TextStream::default(), 0, true);
    let mut see = |picked, _: &[f32]| {
        let Picked::Token(token) = picked else { return Ok(()) };
        let new = text.map_or(Ok(String::new()), |text| stream.push(text, token))?;
        new_tokens += 1;
        wanted = viewer.show(token, &new);
        if wanted { Ok(()) } else { Err(Error::Text(String::new())) }
    };
    let rest = tokens.get(known..).unwrap_or_default();
    let done = generate(model, speculation.as_mut(), rest, sampler, &limits, &mut see);
    let ended = match done {
        Ok(generation) => of_ended(generation.ended),
        Err(_) if !wanted => BROKEN_OFF,
        Err(error) => return Err(error.into()),
    };
    if let (Some(text), true) = (text, wanted) {
        let last = stream.finish(text)?;
        viewer.show_text(&last);
    }
    Ok(Answer { new_tokens, ended })
}

const fn of_ended(ended: Ended) -> c_int {
    match ended {
        Ended::Stopped | Ended::Complete => STOPPED,
        Ended::Enough => ENOUGH,
        Ended::ContextFull => CONTEXT_FULL,
    }
}

/// The token of text without a token: the rest at the end.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

impl Viewer {
    /// Whether more is wanted.
    fn show(self, token: u32, text: &str) -> bool {
        let pointer = text.as_ptr().cast();
        // SAFETY: the caller of the model gave function and context together, and the arguments have the types of the function.
        self.see.is_none_or(|see| unsafe { see(self.context, token, pointer, text.len()) })
    }

    fn show_text(self, text: &str) {
        if !text.is_empty() {
            self.show(NO_TOKEN, text);
        }
    }
}
