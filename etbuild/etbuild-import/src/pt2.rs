//! Archives of `torch.export.save`, `.pt2`: a zip container with a JSON program and raw weights.

mod archive;
mod argument;
mod body;
mod bound;
mod complex;
mod earlier_expression;
mod earlier_schema;
mod exported;
mod graph;
mod lines;
mod model;
mod number;
mod scope;
mod spec;
mod symbol;
mod weights;

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_ir::{AtenProgram, Buffer, Program};

pub use exported::{ExportedGraph, ExportedInput, ExportedNode, ExportedWeight, WeightRole, exported_graph};
pub use lines::{SourceLine, source_lines};

use crate::custom::CustomSchemas;
use crate::{ImportError, functionalize};

/// Bytes with an owner, such as a mapped file.
pub(crate) type Bytes = Arc<dyn Buffer>;

/// Imports an archive, decomposed or not, as a program with the single method `forward`.
///
/// Constants are slices of `bytes` where the archive stores the elements in row-major order. Every value is
/// row-major; other memory formats change no element of a result.
///
/// # Errors
/// Every reason found why the archive cannot be imported.
pub fn import_pt2(bytes: Bytes) -> Result<AtenProgram, Vec<ImportError>> {
    import_pt2_with(bytes, &CustomSchemas::default())
}

/// The same for an archive that calls custom operators with these schemas. Types and shapes of their results are those in the archive.
///
/// # Errors
/// Every reason found why the archive cannot be imported.
pub fn import_pt2_with(bytes: Bytes, custom: &CustomSchemas) -> Result<AtenProgram, Vec<ImportError>> {
    let archive = archive::Archive::open(bytes).map_err(|error| vec![error])?;
    let model = model::read(&archive).map_err(|error| vec![error])?;
    let captured = graph::build(&archive, &model, custom)?;
    let graph = functionalize::functionalize(captured, custom).map_err(|error| vec![error])?;
    let program = Program { methods: BTreeMap::from([("forward".to_owned(), graph)]) };
    AtenProgram::verify(program).map_err(|violations| violations.into_iter().map(ImportError::from).collect())
}
