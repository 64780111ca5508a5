//! What the archive of a model says about the model's source: the exported graph, and the lines of Python behind values.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_import::SourceLine;
use etbuild_ir::Buffer;

use super::imported;
use crate::action::program::Held;
use crate::action::{ArtifactKind, Blocked};
use crate::input::{Db, ModelSource};

/// The bytes of a model's archive; `None` for a model without one.
///
/// # Errors
/// The failure of the import.
pub fn archive(db: &dyn Db, model: ModelSource) -> Result<Option<Arc<dyn Buffer>>, Blocked> {
    let ModelSource::Archive(_) = model else { return Ok(None) };
    let imported = imported(db, model)?;
    let bytes = db.world().open_weights(&imported.blob(ArtifactKind::Source)?);
    Ok(Some(Arc::new(Held(bytes))))
}

/// The lines of the user's Python by the names of the values that they compute. The lines are read from the archive and are in no
/// artifact, so that a move of the model's code changes no key.
pub fn source_lines(archive: Arc<dyn Buffer>) -> BTreeMap<String, SourceLine> {
    etbuild_import::source_lines(archive).unwrap_or_default()
}
