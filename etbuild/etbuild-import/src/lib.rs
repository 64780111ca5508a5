//! Importers: model files become programs, one module per format.
//!
//! A reader takes the untrusted bytes of a file and returns a program whose constants are slices of these bytes.
//! Readers never panic, and allocate in proportion to the file.

mod error;
mod functionalize;
mod pt2;
mod schema;

pub use error::ImportError;
pub use pt2::import_pt2;
