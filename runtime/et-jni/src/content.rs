//! The classes `Message`, `Part` and `Call`: prompts and conversations of texts, pictures, sounds and calls of tools.

use std::ffi::{CString, c_void};

use et_c::content::{CALL, GivenPart, Turn};
use et_c::functions::GivenCall;

use crate::environment::Environment;
use crate::failure::Result;
use crate::interface::Object;

/// A part for C, with the text or the call behind the pointer. Bytes are in a direct buffer, which Java keeps during the native call.
pub struct ReadPart {
    part: GivenPart,
    _text: Option<CString>,
    _call: Option<Box<ReadCall>>,
}

/// A call for C, with the texts behind the pointers.
struct ReadCall {
    given: GivenCall,
    _texts: [CString; 3],
}

impl ReadCall {
    /// Reads the fields of a `Call`.
    fn read(environment: Environment, object: Object) -> Result<Self> {
        let text = |name| -> Result<CString> {
            Ok(environment.text_field(object, name)?.ok_or("a text of a call is missing")?)
        };
        let texts = [text(c"id")?, text(c"name")?, text(c"arguments")?];
        let [id, name, arguments] = texts.each_ref().map(|text| text.as_ptr());
        Ok(Self { given: GivenCall { id, name, arguments }, _texts: texts })
    }
}

impl ReadPart {
    /// Reads the fields of a `Part`.
    pub fn read(environment: Environment, object: Object) -> Result<Self> {
        let kind = environment.int_field(object, c"kind")?;
        let text = environment.text_field(object, c"text")?;
        let size = |name| -> Result<usize> { Ok(usize::try_from(environment.int_field(object, name)?)?) };
        if kind == CALL {
            let call = environment.object_field(object, c"call", c"Letbuild/Call;")?;
            let read = Box::new(ReadCall::read(environment, call)?);
            environment.forget(call);
            let data = (&raw const read.given).cast();
            let part = GivenPart { kind, data, size: 0, width: 0, height: 0, rate: 0 };
            return Ok(Self { part, _text: None, _call: Some(read) });
        }
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
        let part = GivenPart { kind, data, size: bytes, width, height, rate };
        Ok(Self { part, _text: text, _call: None })
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
    given: Vec<GivenPart>,
    _parts: Vec<ReadPart>,
}

impl ReadMessage {
    /// Reads the fields of a `Message`.
    pub fn read(environment: Environment, object: Object) -> Result<Self> {
        let role = environment.text_field(object, c"role")?.ok_or("a message has no role")?;
        let array = environment.object_field(object, c"content", c"[Letbuild/Part;")?;
        let parts = parts(environment, array)?;
        environment.forget(array);
        let given = parts.iter().map(ReadPart::given).collect();
        Ok(Self { role, given, _parts: parts })
    }

    /// The message for C, which points into this value.
    pub fn turn(&self) -> Turn {
        Turn { role: self.role.as_ptr(), parts: self.given.as_ptr(), count: self.given.len() }
    }
}

/// The messages of an array of `Message`.
pub fn messages(environment: Environment, array: Object) -> Result<Vec<ReadMessage>> {
    environment.map(array, |message| ReadMessage::read(environment, message))
}
