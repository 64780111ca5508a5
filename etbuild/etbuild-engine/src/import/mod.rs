//! Importing: an archive or a checkpoint becomes an ATen program.

mod archive;
mod checkpoint;
mod derived;
mod failure;
mod file;
mod lines;
mod query;

pub use checkpoint::forms;
pub use etbuild_import::{
    ExportedGraph, ExportedInput, ExportedNode, ExportedWeight, SourceLine, WeightRole, exported_graph,
};
pub use lines::{archive, source_lines};
pub use query::imported;
