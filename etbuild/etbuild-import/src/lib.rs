//! Model files to programs, one module per format.
//!
//! A reader takes the bytes of a file, which are untrusted, and returns a program whose constants are parts of those
//! bytes. It never panics, and allocates in proportion to the file.

mod error;
mod functionalize;
mod pt2;
mod schema;

pub use error::ImportError;
pub use pt2::import_pt2;
