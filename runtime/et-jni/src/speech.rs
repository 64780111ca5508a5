//! The native method of `LanguageModel` that makes transcripts.
#![expect(unsafe_code, reason = "Java calls the function by its name, with numbers of pointers")]
#![allow(non_snake_case, reason = "JNI makes names of the names in Java")]

use std::ffi::{CStr, c_void};
use std::slice;

use et_c::speech::{Speech, SpokenSegment, Transcript, Word};

use crate::content::ReadPart;
use crate::environment::Environment;
use crate::failure::{Failure, Result};
use crate::interface::{Argument, Member, Object};
use crate::options::GivenOptions;
use crate::value::{functions, or_null, pointer};

/// Makes the transcript of a recording; returns the code of its language. `see` has the methods `word` and `segment`.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_languageTranscribe(
    environment: Environment,
    _class: Object,
    library: i64,
    language: i64,
    sound: Object,
    speech: Object,
    options: Object,
    see: Object,
) -> Object {
    environment.finish(|| {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let transcribe = functions.language_transcribe.ok_or("the model does not hear")?;
        let (sound, options) = (ReadPart::read(environment, sound)?, GivenOptions::read(environment, options)?);
        let spoken = environment.text_field(speech, c"language")?;
        let prompt = environment.text_field(speech, c"prompt")?;
        let speech = Speech {
            language: or_null(spoken.as_ref()),
            task: environment.int_field(speech, c"task")?,
            timestamps: environment.boolean_field(speech, c"timestamps")?,
            word_timestamps: environment.boolean_field(speech, c"wordTimestamps")?,
            prompt: or_null(prompt.as_ref()),
        };
        let mut viewer = Viewer::new(environment, see)?;
        let (context, mut made) = ((&raw mut viewer).cast(), Transcript::default());
        let (sound, options) = (sound.given(), &raw const options.options);
        // SAFETY: all pointers live until the call returns.
        let status = unsafe {
            transcribe(
                pointer(language),
                &raw const sound,
                &raw const speech,
                options,
                Some(seen),
                context,
                &raw mut made,
            )
        };
        viewer.failure.map_or(Ok(()), Err)?;
        functions.status(status)?;
        // SAFETY: the code is terminated.
        environment.string(&unsafe { CStr::from_ptr(made.language.as_ptr()) }.to_string_lossy())
    })
}

/// The object that is told segments.
struct Viewer {
    environment: Environment,
    object: Object,
    word: Member,
    segment: Member,
    /// What went wrong in Java: ends the transcript.
    failure: Option<Failure>,
}

unsafe extern "C" fn seen(context: *mut c_void, segment: *const SpokenSegment) -> bool {
    // SAFETY: the context is a viewer, which nobody else uses during the call, and the segment lives during the call.
    let (viewer, segment) = unsafe { (&mut *context.cast::<Viewer>(), &*segment) };
    viewer.show(segment).unwrap_or_else(|failure| {
        viewer.failure = Some(failure);
        false
    })
}

impl Viewer {
    fn new(environment: Environment, object: Object) -> Result<Self> {
        let method = |name| environment.method(object, name, c"(DDLjava/lang/String;)Z");
        Ok(Self { environment, object, word: method(c"word")?, segment: method(c"segment")?, failure: None })
    }

    /// Tells the words of a segment, and then the segment; whether more is wanted.
    fn show(&self, segment: &SpokenSegment) -> Result<bool> {
        let words: &[Word] = if segment.word_count == 0 {
            &[]
        } else {
            // SAFETY: the segment has `word_count` words.
            unsafe { slice::from_raw_parts(segment.words, segment.word_count) }
        };
        for word in words {
            // SAFETY: the word has `size` bytes.
            let text = unsafe { slice::from_raw_parts(word.text.cast(), word.size) };
            self.tell(self.word, [word.start, word.end], text)?;
        }
        // SAFETY: the segment has `size` bytes.
        let text = unsafe { slice::from_raw_parts(segment.text.cast(), segment.size) };
        self.tell(self.segment, [segment.start, segment.end], text)
    }

    fn tell(&self, method: Member, [start, end]: [f64; 2], text: &[u8]) -> Result<bool> {
        let object = self.environment.string(&String::from_utf8_lossy(text))?;
        let arguments = [Argument { double: start }, Argument { double: end }, Argument { object }];
        let wanted = self.environment.call_boolean(self.object, method, &arguments);
        self.environment.forget(object);
        wanted
    }
}
