//! The lines of Python behind the values of a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_import::SourceLine;

use super::imported;
use crate::action::program::Held;
use crate::action::{ArtifactKind, Blocked};
use crate::input::{Db, ModelSource};

/// The lines of the user's Python by the names of the values that they compute; empty for a model without lines. The lines are
/// read from the archive and are in no artifact, so that a move of the model's code changes no key.
///
/// # Errors
/// The failure of the import.
pub fn source_lines(db: &dyn Db, model: ModelSource) -> Result<BTreeMap<String, SourceLine>, Blocked> {
    let ModelSource::Archive(_) = model else { return Ok(BTreeMap::new()) };
    let imported = imported(db, model)?;
    let archive = db.world().open_weights(&imported.blob(ArtifactKind::Source)?);
    Ok(etbuild_import::source_lines(Arc::new(Held(archive))).unwrap_or_default())
}
