//! The classes `Message` and `Part`: prompts and conversations of texts, pictures and sounds.

use std::ffi::{CString, c_char, c_void};

use et_c::content::{GivenPart, TEXT, Turn};
use et_c::language::Said;

use crate::environment::Environment;
use crate::failure::Result;
use crate::interface::Object;

/// A part for C, with the text behind the pointer. Bytes are in a direct buffer, which Java keeps during the native call.
pub struct ReadPart {
    part: GivenPart,
    text: Option<CString>,
}

impl ReadPart {
    /// Reads the fields of a `Part`.
    pub fn read(environment: Environment, object: Object) -> Result<Self> {
        let kind = environment.int_field(object, c"kind")?;
        let text = environment.text_field(object, c"text")?;
        let size = |name| -> Result<usize> { Ok(usize::try_from(environment.int_field(object, name)?)?) };
        let (data, bytes): (*const c_void, usize) = match &text {
            Some(text) => (text.as_ptr().cast(), 0),
            None => {
                let buffer = environment.object_field(object, c"data", c"Ljava/nio/ByteBuffer;")?;
                let (data, bytes) = environment.buffer(buffer)?;
                environment.forget(buffer);
                (data, bytes / size(c"elementSize")?.max(1))
            }
        };
        let (width, height) = (size(c"width")?, size(c"height")?);
        let rate = u32::try_from(environment.int_field(object, c"rate")?)?;
        Ok(Self { part: GivenPart { kind, data, size: bytes, width, height, rate }, text })
    }

    /// The part of C, which points into this value.
    pub fn given(&self) -> GivenPart {
        let GivenPart { kind, data, size, width, height, rate } = self.part;
        GivenPart { kind, data, size, width, height, rate }
    }
}

/// The parts of an array of `Part`.
pub fn parts(environment: Environment, array: Object) -> Result<Vec<ReadPart>> {
    environment.map(array, |part| ReadPart::read(environment, part))
}

/// A message for C, with the parts behind the pointer.
pub struct ReadMessage {
    role: CString,
    parts: Vec<ReadPart>,
    given: Vec<GivenPart>,
}

impl ReadMessage {
    /// Reads the fields of a `Message`.
    pub fn read(environment: Environment, object: Object) -> Result<Self> {
        let role = environment.text_field(object, c"role")?.ok_or("a message has no role")?;
        let array = environment.object_field(object, c"content", c"[Letbuild/Part;")?;
        let parts = parts(environment, array)?;
        environment.forget(array);
        let given = parts.iter().map(ReadPart::given).collect();
        Ok(Self { role, parts, given })
    }

    /// The message for a model that reads pictures or hears.
    pub fn turn(&self) -> Turn {
        Turn { role: self.role.as_ptr(), parts: self.given.as_ptr(), count: self.given.len() }
    }

    /// The message for a model for texts.
    pub fn said(&self) -> Result<Said> {
        Ok(Said { role: self.role.as_ptr(), content: only_text(&self.parts)? })
    }
}

/// The text of a single part, for a model for texts.
pub fn only_text(parts: &[ReadPart]) -> Result<*const c_char> {
    match parts {
        [ReadPart { part: GivenPart { kind: TEXT, .. }, text: Some(text) }] => Ok(text.as_ptr()),
        [_] => Err("the model reads no pictures and does not hear".into()),
        _ => Err("the model reads texts: a prompt or a message is a single text".into()),
    }
}
