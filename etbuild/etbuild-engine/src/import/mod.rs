//! Importing: an archive or a checkpoint becomes an ATen program.

mod archive;
mod checkpoint;
mod derived;
mod failure;
mod file;
mod query;

pub use checkpoint::forms;
pub use query::imported;
