//! The native methods of `LanguageModel`.
//!
//! Each function has the arguments that `Native.kt` declares: `library` is the number of a table, `language` the number of an object which
//! the library made. Kotlin passes numbers of objects that live, and calls with one object come one after the other.
#![expect(unsafe_code, reason = "Java calls the functions by their names, with numbers of pointers")]
#![allow(non_snake_case, reason = "JNI makes names of the names in Java")]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::slice;

use et_c::language::{Answer, Language, Options};

use crate::content::{self, ReadMessage, ReadPart};
use crate::environment::Environment;
use crate::failure::{Failure, Result};
use crate::functions::Functions;
use crate::interface::{Argument, Member, Object};
use crate::options::{self, GivenOptions};
use crate::value::{Texts, functions, pointer};

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

/// Continues a text of parts; returns why the continuation ended.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageContinue(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    parts: Object,
    options: Object,
    see: Object,
) -> i32 {
    environment.finish(|| {
        let read = content::parts(environment, parts)?;
        let given: Vec<_> = read.iter().map(ReadPart::given).collect();
        let reply = Reply { environment, library, language, options, see };
        reply.make(|functions, Call { language, options, context, answer }| {
            let Some(function) = functions.language_continue_parts else {
                let (text, function) = (content::only_text(&read)?, functions.language_continue);
                // SAFETY: the pointers live until the call returns.
                return Ok(unsafe { function(language, text, options, Some(seen), context, answer) });
            };
            let (first, count) = (given.as_ptr(), given.len());
            // SAFETY: the same.
            Ok(unsafe { function(language, first, count, options, Some(seen), context, answer) })
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
        let tokens: Vec<u32> = environment.ints(tokens)?.into_iter().map(i32::cast_unsigned).collect();
        let reply = Reply { environment, library, language, options, see };
        reply.make(|functions, Call { language, options, context, answer }| {
            let (first, count) = (tokens.as_ptr(), tokens.len());
            // SAFETY: the pointers live until the call returns.
            Ok(unsafe {
                (functions.language_continue_tokens)(language, first, count, options, Some(seen), context, answer)
            })
        })
    })
}

/// Answers in a conversation; returns why the answer ended.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageAnswer(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    messages: Object,
    options: Object,
    see: Object,
) -> i32 {
    environment.finish(|| {
        let messages = environment.map(messages, |message| ReadMessage::read(environment, message))?;
        let reply = Reply { environment, library, language, options, see };
        reply.make(|functions, Call { language, options, context, answer }| {
            let Some(function) = functions.language_answer_parts else {
                let said = messages.iter().map(ReadMessage::said).collect::<Result<Vec<_>>>()?;
                let (first, count, function) = (said.as_ptr(), said.len(), functions.language_answer);
                // SAFETY: the pointers live until the call returns.
                return Ok(unsafe { function(language, first, count, options, Some(seen), context, answer) });
            };
            let turns: Vec<_> = messages.iter().map(ReadMessage::turn).collect();
            // SAFETY: the same.
            Ok(unsafe { function(language, turns.as_ptr(), turns.len(), options, Some(seen), context, answer) })
        })
    })
}

/// The arguments of a reply that all prompts have.
struct Reply {
    environment: Environment,
    library: i64,
    language: i64,
    /// An object of class `Options`.
    options: Object,
    /// The object with the method `see`.
    see: Object,
}

/// The same for C.
struct Call {
    language: *mut Language,
    options: *const Options,
    context: *mut c_void,
    answer: *mut Answer,
}

impl Reply {
    fn make(self, call: impl FnOnce(&Functions, Call) -> Result<c_int>) -> Result<i32> {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(self.library) };
        let given = GivenOptions::read(self.environment, self.options)?;
        let method = self.environment.method(self.see, c"see", c"(ILjava/lang/String;)Z")?;
        let mut viewer = Viewer { environment: self.environment, object: self.see, method, failure: None };
        let mut answer = Answer::default();
        let status = call(
            functions,
            Call {
                language: pointer(self.language),
                options: &raw const given.options,
                context: (&raw mut viewer).cast(),
                answer: &raw mut answer,
            },
        )?;
        viewer.failure.map_or(Ok(()), Err)?;
        functions.status(status)?;
        Ok(answer.ended)
    }
}

/// The object that is told new tokens.
struct Viewer {
    environment: Environment,
    object: Object,
    method: Member,
    /// What went wrong in Java: ends the answer.
    failure: Option<Failure>,
}

/// The token function of C, whose context is a [`Viewer`].
unsafe extern "C" fn seen(context: *mut c_void, token: u32, text: *const c_char, size: usize) -> bool {
    // SAFETY: the context is a viewer, which nobody else uses during the call.
    let viewer = unsafe { &mut *context.cast::<Viewer>() };
    // SAFETY: the caller gives a text of `size` bytes.
    let text = if size == 0 { &[] } else { unsafe { slice::from_raw_parts(text.cast::<u8>(), size) } };
    let shown = viewer.show(token, &String::from_utf8_lossy(text));
    shown.unwrap_or_else(|failure| {
        viewer.failure = Some(failure);
        false
    })
}

impl Viewer {
    /// Whether more is wanted.
    fn show(&self, token: u32, text: &str) -> Result<bool> {
        let object = self.environment.string(text)?;
        let arguments = [Argument { int: token.cast_signed() }, Argument { object }];
        let wanted = self.environment.call_boolean(self.object, self.method, &arguments);
        self.environment.forget(object);
        wanted
    }
}
