//! Importers: model files become programs, one module per format.
//!
//! A reader takes the untrusted bytes of a file and returns a program whose constants are slices of these bytes.
//! Readers never panic, and allocate in proportion to the file.
//!
//! ```
//! use std::sync::Arc;
//!
//! let archive = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/digits/digits.pt2"))?;
//! let program = etbuild_import::import_pt2(Arc::new(archive)).unwrap();
//! assert!(program.program().methods.contains_key("forward"));
//! # Ok::<(), std::io::Error>(())
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod custom;
mod error;
mod format;
mod functionalize;
mod lower_custom;
mod lowering;
mod pt2;
mod schema;

pub use custom::{CustomSchema, CustomSchemas};
pub use error::ImportError;
pub use format::{Format, Glance, HEAD, TAIL};
pub use lowering::LoweringMistake;
pub use pt2::{
    ExportedGraph, ExportedInput, ExportedNode, ExportedWeight, SourceLine, WeightRole, exported_graph, import_pt2,
    import_pt2_with, source_lines,
};
