//! A model becomes an ATen program.

use super::archive::archived;
use super::checkpoint;
use crate::action::StageResult;
use crate::input::{Db, ModelSource};

/// The program of a method as captured or described. Reads only the model: all targets share the program.
pub fn imported(db: &dyn Db, model: ModelSource) -> StageResult {
    match model {
        ModelSource::Archive(archive) => archived(db, archive),
        ModelSource::Checkpoint(folder, method) => checkpoint::imported(db, folder, method),
    }
}
