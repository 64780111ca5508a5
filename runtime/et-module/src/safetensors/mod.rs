//! The safetensors format: a JSON header, then the tensors' bytes.
//!
//! Specification: <https://github.com/huggingface/safetensors>. Bytes 0 to 7 are the header's length; the header maps
//! names to type, shape and byte range; ranges follow each other without gap or overlap.

mod element_type;
mod json;
mod read;
mod write;

use std::fmt::{Display, Formatter};

pub use json::quoted;
pub use read::SafeTensors;
pub use write::{write, write_with_texts};

/// The mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file ends before the header does.
    TooShort,
    /// The header is not the expected JSON.
    Header {
        /// The offset in the header.
        position: usize,
        /// The expected token.
        expected: &'static str,
    },
    /// Two tensors have the same name.
    Duplicate(String),
    /// A tensor's elements are of a type that this runtime does not know.
    ElementType(String),
    /// The byte range of a tensor is out of place or of the wrong size.
    Range(String),
}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooShort => formatter.write_str("not a safetensors file: it ends inside its header"),
            Self::Header { position, expected } => {
                write!(formatter, "malformed safetensors header: expected {expected} at offset {position}")
            }
            Self::Duplicate(name) => write!(formatter, "tensor {name} occurs twice"),
            Self::ElementType(name) => write!(formatter, "element type {name} is not supported"),
            Self::Range(name) => write!(formatter, "tensor {name}: its byte range does not fit its shape or the file"),
        }
    }
}

impl std::error::Error for Error {}
