//! The files that units read, for whoever watches them or compares them with a revision.

use std::path::PathBuf;

use crate::db::{Archive, CheckpointFolder, Db, ModelSource};
use crate::query;
use crate::unit::Unit;

/// Every file outside the store that a unit's results depend on, sorted: the recipe and what it extends, a target beside it,
/// models, calibration and verification data, a Python model's script and what it was seen to read. `None` where a Python model
/// was never exported, so that nobody knows yet what it reads.
pub fn inputs(db: &dyn Db, unit: &Unit) -> Option<Vec<PathBuf>> {
    let (files, complete) = known_inputs(db, unit);
    complete.then_some(files)
}

/// Those of the files that are known, and whether they are all.
pub fn known_inputs(db: &dyn Db, unit: &Unit) -> (Vec<PathBuf>, bool) {
    let mut complete = true;
    let mut files: Vec<PathBuf> = unit.files.to_vec();
    files.extend(unit.recipe.files().iter().map(|file| file.path.clone()));
    files.extend(target_file(db, unit));
    for source in unit.archives.values() {
        match *source {
            ModelSource::Archive(Archive::Python(python)) => match query::export_reads(db, python) {
                Some(read) => files.extend(read),
                None => complete = false,
            },
            ModelSource::Checkpoint(folder, _) => {
                let adapter = folder.adapter(db);
                let over = adapter.as_ref().map(|adapter| &adapter.path);
                files.retain(|file| file != folder.path(db) && Some(file) != over);
                files.extend(checkpoint_files(db, folder));
            }
            ModelSource::Archive(Archive::File(_)) => {}
        }
    }
    files.sort();
    files.dedup();
    (files, complete)
}

/// What a checkpoint's program is read from; none of a folder without one.
fn checkpoint_files(db: &dyn Db, folder: CheckpointFolder) -> Vec<PathBuf> {
    let (files, texts) = (folder.files(db).unwrap_or_default(), folder.texts(db));
    let over = folder.adapter(db).map(|adapter| adapter.files.unwrap_or_default()).unwrap_or_default();
    files.values().chain(texts.values()).chain(over.values()).map(|file| file.path(db).to_owned()).collect()
}

/// The target's file, where it lies beside the recipe.
fn target_file(db: &dyn Db, unit: &Unit) -> Option<PathBuf> {
    let folder = unit.source().parent()?.join("targets");
    let file = folder.join(format!("{}.yaml", unit.target.name()));
    db.world().system().stamp(&file).is_ok().then_some(file)
}
