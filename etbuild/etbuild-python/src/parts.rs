//! Parts of prompts and messages: texts, pictures and recordings of Python.

use etbuild_run::language::{Content, Media, NamedCall, Role, Turn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// A part as the package's Python files describe it.
#[derive(FromPyObject)]
pub struct GivenPart {
    kind: String,
    text: String,
    data: PyBackedBytes,
    width: usize,
    height: usize,
    rate: u32,
}

/// A part without objects of Python.
pub enum OwnPart {
    Text(String),
    Picture(PyBackedBytes),
    Pixels { bytes: PyBackedBytes, width: usize, height: usize },
    Sound(PyBackedBytes),
    Samples { samples: Vec<f32>, rate: u32 },
}

impl GivenPart {
    /// The part of the kind.
    ///
    /// # Errors
    /// `ValueError` for an unknown kind.
    pub fn own(self) -> PyResult<OwnPart> {
        let Self { kind, text, data, width, height, rate } = self;
        Ok(match kind.as_str() {
            "text" => OwnPart::Text(text),
            "picture" => OwnPart::Picture(data),
            "pixels" => OwnPart::Pixels { bytes: data, width, height },
            "sound" => OwnPart::Sound(data),
            "samples" => OwnPart::Samples { samples: floats(&data), rate },
            kind => return Err(PyValueError::new_err(format!("there is no kind {kind} of parts"))),
        })
    }
}

impl OwnPart {
    /// The content for a model.
    pub fn content(&self) -> Content<'_> {
        match self {
            Self::Text(text) => Content::Text(text),
            Self::Picture(file) => Content::Picture(Media::File(file)),
            Self::Pixels { bytes, width, height } => {
                Content::Picture(Media::Pixels { bytes, width: *width, height: *height })
            }
            Self::Sound(file) => Content::Sound(Media::File(file)),
            Self::Samples { samples, rate } => Content::Sound(Media::Samples { samples, rate: *rate }),
        }
    }
}

/// The numbers of an array of `float32`.
fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().copied().map(f32::from_ne_bytes).collect()
}

/// The parts of a prompt.
///
/// # Errors
/// `ValueError` for an unknown kind.
pub fn own(parts: Vec<GivenPart>) -> PyResult<Vec<OwnPart>> {
    parts.into_iter().map(GivenPart::own).collect()
}

/// The contents of parts.
pub fn contents(parts: &[OwnPart]) -> Vec<Content<'_>> {
    parts.iter().map(OwnPart::content).collect()
}

/// A message as Python hands it over: role, parts, and calls with id, name and arguments.
pub type GivenMessage = (String, Vec<GivenPart>, Vec<(String, String, String)>);

/// A message without objects of Python.
pub struct OwnMessage {
    role: Role,
    parts: Vec<OwnPart>,
    calls: Vec<(String, String, String)>,
}

impl OwnMessage {
    /// A message of a role, parts and calls.
    ///
    /// # Errors
    /// `ValueError` for an unknown role or kind.
    pub fn new((role, parts, calls): GivenMessage) -> PyResult<Self> {
        let known = Role::ALL.into_iter().find(|known| known.name() == role);
        let roles = Role::ALL.map(Role::name).join(", ");
        let role = known.ok_or_else(|| PyValueError::new_err(format!("a role is one of {roles}, not {role}")))?;
        Ok(Self { role, parts: own(parts)?, calls })
    }

    /// The message for a model.
    pub fn turn(&self) -> Turn<'_> {
        let calls = self.calls.iter().map(|(id, name, arguments)| NamedCall { id, name, arguments }).collect();
        Turn { calls, ..Turn::new(self.role, contents(&self.parts)) }
    }
}
