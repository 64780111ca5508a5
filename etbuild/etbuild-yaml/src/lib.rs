//! YAML text to a tree whose every node knows its file, line and column, and from there to typed values.
//!
//! [`parse`] reads text under fixed limits ([`limits`]) and never panics, whatever the text. [`read`] turns a tree into
//! any type with a serde `Deserialize`, and reports every mistake that it finds, each with its place and a hint.
//! [`Spanned`] keeps the place of a value that later stages may have to point at.

mod access;
mod builder;
mod byte_size;
mod deserializer;
mod error;
pub mod limits;
mod name;
mod node;
mod parse;
mod place;
mod read;
mod scalar;
mod spanned;
mod suggest;
mod text;
mod version;

pub use byte_size::ByteSize;
pub use name::Name;
pub use node::{Entry, Map, Node, Text, Value};
pub use parse::{parse, parse_after};
pub use place::{Place, Source};
pub use read::{read, read_rest};
pub use scalar::resolve as resolve_scalar;
pub use spanned::Spanned;
pub use suggest::{quote, suggest};
pub use text::read_text;
pub use version::{FormatVersion, check_version};
