//! The native methods of `LanguageModel`.
//!
//! Each function has the arguments that `Native.kt` declares: `library` is the number of a table, `language` the number of an object which
//! the library made. Kotlin passes numbers of objects that are not freed yet, and one call at a time uses an object.
#![expect(unsafe_code, reason = "Java calls the functions by their names, with numbers of pointers")]
#![allow(non_snake_case, reason = "JNI makes names of the names in Java")]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

use et_c::answer::Answer;
use et_c::held::Language;
use et_c::options::Options;

use crate::content::{self, ReadMessage, ReadPart};
use crate::environment::Environment;
use crate::failure::Result;
use crate::functions::Functions;
use crate::interface::Object;
use crate::options::{self, GivenOptions};
use crate::value::{Texts, functions, pointer};
use crate::viewer::{Viewer, called, likely, seen, thought};

const NO_LANGUAGE: &str = "the library is one of a program: load `Module`";

/// Loads a language model from a program file.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageLoad(
    environment: Environment,
    _class: Object,
    library: i64,
    program: Object,
    data: Object,
    threads: i32,
    lookup: u8,
) -> i64 {
    environment.finish(|| {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let load = functions.language_load.ok_or(NO_LANGUAGE)?;
        let (program, data) = (environment.text(program)?, Texts::read(environment, data)?);
        let threads = usize::try_from(threads)?;
        // SAFETY: texts are terminated, and live until the call returns.
        functions.object(unsafe { load(program.as_ptr(), data.first(), data.count(), threads, lookup != 0) })
    })
}

/// Loads a language model from a program file in a direct buffer.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageLoadBytes(
    environment: Environment,
    _class: Object,
    library: i64,
    program: Object,
    data: Object,
    threads: i32,
    lookup: u8,
) -> i64 {
    environment.finish(|| {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let load = functions.language_load_bytes.ok_or(NO_LANGUAGE)?;
        let ((program, size), data) = (environment.buffer(program)?, Texts::read(environment, data)?);
        let threads = usize::try_from(threads)?;
        // SAFETY: the buffer and the texts live until the call returns.
        functions.object(unsafe { load(program.cast(), size, data.first(), data.count(), threads, lookup != 0) })
    })
}

/// Frees a language model.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageFree(_: Environment, _class: Object, library: i64, language: i64) {
    // SAFETY: the numbers name a table and an object, which Kotlin forgets.
    unsafe { (functions(library).language_free)(pointer(language)) }
}

/// Writes the options that the program file states to an object of class `Options`.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageOptions(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    to: Object,
) {
    environment.finish(|| {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let mut options = MaybeUninit::uninit();
        // SAFETY: the number names an object, and the place has room for the options.
        functions.status(unsafe { (functions.language_options)(pointer(language), options.as_mut_ptr()) })?;
        // SAFETY: the call succeeded.
        options::write(environment, to, &unsafe { options.assume_init() })
    });
}

/// The most tokens of a text; 0 where nobody knows.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageContext(_: Environment, _: Object, library: i64, language: i64) -> i64 {
    // SAFETY: the numbers name a table and an object.
    unsafe { (functions(library).language_context)(pointer(language)) as i64 }
}

/// Continues a text of parts; returns why the continuation ended. `apart` says whether probabilities are told apart from the text.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageContinue(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    parts: Object,
    options: Object,
    see: Object,
    apart: u8,
) -> i32 {
    environment.finish(|| {
        let read = content::parts(environment, parts)?;
        let given: Vec<_> = read.iter().map(ReadPart::given).collect();
        let reply = Reply { environment, library, language, options, see, is_apart: apart != 0 };
        reply.make(|functions, Call { language, options, context, answer }| {
            let (first, count, function) = (given.as_ptr(), given.len(), functions.language_continue_parts);
            // SAFETY: the pointers live until the call returns.
            unsafe { function(language, first, count, options, Some(seen), context, answer) }
        })
    })
}

/// Continues a text of tokens; returns why the continuation ended.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageContinueTokens(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    tokens: Object,
    options: Object,
    see: Object,
) -> i32 {
    environment.finish(|| {
        let tokens = read_tokens(environment, tokens)?;
        let reply = Reply { environment, library, language, options, see, is_apart: false };
        reply.make(|functions, Call { language, options, context, answer }| {
            let (first, count, function) = (tokens.as_ptr(), tokens.len(), functions.language_continue_tokens);
            // SAFETY: the pointers live until the call returns.
            unsafe { function(language, first, count, options, Some(seen), context, answer) }
        })
    })
}

/// Answers in a conversation; returns why the answer ended. `apart` says whether thoughts and calls are told apart from the text.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageAnswer(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    messages: Object,
    options: Object,
    see: Object,
    apart: u8,
) -> i32 {
    environment.finish(|| {
        let messages = content::messages(environment, messages)?;
        let turns: Vec<_> = messages.iter().map(ReadMessage::turn).collect();
        let reply = Reply { environment, library, language, options, see, is_apart: apart != 0 };
        reply.make(|functions, Call { language, options, context, answer }| {
            let (first, count, function) = (turns.as_ptr(), turns.len(), functions.language_answer_parts);
            // SAFETY: the pointers live until the call returns.
            unsafe { function(language, first, count, options, Some(seen), context, answer) }
        })
    })
}

/// The tokens of a text.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageEncode(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    text: Object,
    begins: u8,
) -> Object {
    environment.finish(|| {
        let text = environment.text(text)?;
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let tokens = functions.elements(|first, capacity, count| {
            // SAFETY: the number names an object, and the text lives until the call returns.
            unsafe {
                (functions.language_encode)(pointer(language), text.as_ptr(), begins != 0, first, capacity, count)
            }
        })?;
        shown_tokens(environment, &tokens)
    })
}

/// The tokens of a conversation.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageEncodeMessages(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    messages: Object,
    options: Object,
) -> Object {
    environment.finish(|| {
        let messages = content::messages(environment, messages)?;
        let turns: Vec<_> = messages.iter().map(ReadMessage::turn).collect();
        let given = GivenOptions::read(environment, options)?;
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let tokens = functions.elements(|first, capacity, count| {
            let (turns, turn_count, options) = (turns.as_ptr(), turns.len(), &raw const given.options);
            let function = functions.language_encode_turns;
            // SAFETY: the number names an object, and the pointers live until the call returns.
            unsafe { function(pointer(language), turns, turn_count, options, first, capacity, count) }
        })?;
        shown_tokens(environment, &tokens)
    })
}

/// The text of tokens.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageDecode(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    tokens: Object,
) -> Object {
    environment.finish(|| {
        let tokens = read_tokens(environment, tokens)?;
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let bytes = functions.elements(|first: *mut u8, capacity, size| {
            let (tokens, count, function) = (tokens.as_ptr(), tokens.len(), functions.language_decode);
            // SAFETY: the number names an object, and the pointers live until the call returns.
            unsafe { function(pointer(language), tokens, count, first.cast(), capacity, size) }
        })?;
        environment.string(&String::from_utf8_lossy(&bytes))
    })
}

/// Puts an adapter in the place of the one before.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageUseAdapter(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    path: Object,
) {
    with_file(environment, library, language, path, |functions| functions.language_use_adapter);
}

/// Writes the text that the model has read, with its KV cache, to a file.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageSave(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    path: Object,
) {
    with_file(environment, library, language, path, |functions| functions.language_save);
}

/// Goes on behind the text in a file.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageRestore(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    path: Object,
) {
    with_file(environment, library, language, path, |functions| functions.language_restore);
}

/// A function of C on a model and the path of a file.
type OnFile = unsafe extern "C" fn(*mut Language, *const c_char) -> c_int;

fn with_file(environment: Environment, library: i64, language: i64, path: Object, act: fn(&Functions) -> OnFile) {
    environment.finish(|| {
        let path = environment.text(path)?;
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        // SAFETY: the number names an object, and the text lives until the call returns.
        functions.status(unsafe { act(functions)(pointer(language), path.as_ptr()) })
    });
}

fn read_tokens(environment: Environment, array: Object) -> Result<Vec<u32>> {
    Ok(environment.ints(array)?.into_iter().map(i32::cast_unsigned).collect())
}

fn shown_tokens(environment: Environment, tokens: &[u32]) -> Result<Object> {
    environment.int_array(&tokens.iter().map(|token| token.cast_signed()).collect::<Vec<_>>())
}

/// The arguments of a reply that all prompts have.
struct Reply {
    environment: Environment,
    library: i64,
    language: i64,
    /// An object of class `Options`.
    options: Object,
    /// The object that is told the answer.
    see: Object,
    /// Whether the object is told thoughts and calls apart from the text.
    is_apart: bool,
}

/// The same for C.
struct Call {
    language: *mut Language,
    options: *const Options,
    context: *mut c_void,
    answer: *mut Answer,
}

impl Reply {
    fn make(self, call: impl FnOnce(&Functions, Call) -> c_int) -> Result<i32> {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(self.library) };
        let mut options = GivenOptions::read(self.environment, self.options)?;
        if self.is_apart {
            options.apart(Some(thought), Some(called), Some(likely));
        }
        let mut viewer = Viewer::new(self.environment, self.see, self.is_apart)?;
        let mut answer = Answer::default();
        let given = Call {
            language: pointer(self.language),
            options: &raw const options.options,
            context: (&raw mut viewer).cast(),
            answer: &raw mut answer,
        };
        let status = call(functions, given);
        viewer.failure.map_or(Ok(()), Err)?;
        functions.status(status)?;
        Ok(answer.ended)
    }
}
