//! Parses YAML to a tree whose nodes have file, line and column, and deserializes the tree to typed values.
//!
//! [`parse`] reads text under fixed limits ([`limits`]) and never panics. [`read`] deserializes a tree to any serde
//! type, and reports every mistake with its place and a hint. [`Spanned`] keeps the place of a value for errors of
//! later stages.
//!
//! ```
//! use etbuild_yaml::{ByteSize, Source, parse, read};
//!
//! #[derive(serde::Deserialize)]
//! struct Bank {
//!     name: String,
//!     size: ByteSize,
//! }
//!
//! let source = Source::file("bank.yaml", "name: sram\nsize: 64 KiB\n".into());
//! let bank: Bank = read(&parse(&source).unwrap()).unwrap();
//! assert_eq!((bank.name.as_str(), bank.size), ("sram", ByteSize(65_536)));
//!
//! let wrong = Source::file("bank.yaml", "name: sram\nsize: small\n".into());
//! let mistakes = read::<Bank>(&parse(&wrong).unwrap()).err().unwrap();
//! assert_eq!(mistakes[0].span.as_ref().unwrap().start.line, 2);
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod builder;
mod byte_size;
mod deserializer;
mod error;
mod frequency;
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
pub use frequency::Frequency;
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
