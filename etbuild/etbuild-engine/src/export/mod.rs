//! Exporting: a Python function becomes a model archive.

mod interpreter;
mod protocol;
mod query;
mod reads;

pub use query::{export_reads, export_tools, exported};
