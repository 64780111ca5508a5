//! Importing: an archive or a checkpoint becomes an ATen program.

mod archive;
mod checkpoint;
mod failure;
mod file;
mod query;
mod rotations;

pub use query::imported;
