//! The first look at a file: its format by content, whatever its name is.
//!
//! A file of another tool is named, and the answer says how its model becomes a `.pt2` archive.

mod advice;
mod glance;
mod protobuf;
mod table;

pub use glance::{Glance, HEAD, TAIL};
pub use table::Format;
