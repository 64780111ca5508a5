//! The files that units read, for `watch` and for comparisons with a revision.

use std::path::PathBuf;

use crate::export;
use crate::input::{ArchiveOrigin, CheckpointFolder, Db, ModelSource};
use crate::request::{MANIFEST, OPERATORS};
use crate::unit::Unit;

/// Every file outside the store that a unit's results depend on, sorted: the recipe and the extended recipes, a target beside the recipe,
/// models, calibration and verification data, a Python model's script and the files that the script read. `None` where a Python model
/// was never exported, so that the files are not known yet.
pub fn inputs(db: &dyn Db, unit: &Unit) -> Option<Vec<PathBuf>> {
    let (files, complete) = known_inputs(db, unit);
    complete.then_some(files)
}

/// The known files, and whether the list is complete.
pub fn known_inputs(db: &dyn Db, unit: &Unit) -> (Vec<PathBuf>, bool) {
    let mut complete = true;
    let mut files: Vec<PathBuf> = unit.files.to_vec();
    files.extend(unit.recipe.files().iter().map(|file| file.path.clone()));
    files.extend(target_file(db, unit));
    for source in unit.program.archives.values() {
        match *source {
            ModelSource::Archive(archive) => match archive.origin(db) {
                ArchiveOrigin::Python(python) => match export::export_reads(db, python) {
                    Some(read) => files.extend(read),
                    None => complete = false,
                },
                ArchiveOrigin::File(_) => {}
            },
            ModelSource::Checkpoint(folder, _) => {
                let adapter = folder.adapter(db);
                let over = adapter.as_ref().map(|adapter| &adapter.path);
                files.retain(|file| file != folder.path(db) && Some(file) != over);
                files.extend(checkpoint_files(db, folder));
            }
        }
    }
    for found in &unit.link.operators {
        files.retain(|file| file != found.folder());
        let read = found.sources().chain([MANIFEST, OPERATORS]);
        files.extend(read.map(|file| found.folder().join(file)));
    }
    files.sort();
    files.dedup();
    (files, complete)
}

/// The files of a checkpoint's program; empty for a folder without a checkpoint.
fn checkpoint_files(db: &dyn Db, folder: CheckpointFolder) -> Vec<PathBuf> {
    let (files, texts) = (folder.files(db).unwrap_or_default(), folder.texts(db));
    let over = folder.adapter(db).map(|adapter| adapter.files.unwrap_or_default()).unwrap_or_default();
    files.values().chain(texts.values()).chain(over.values()).map(|file| file.path(db).to_owned()).collect()
}

/// The target's file beside the recipe.
fn target_file(db: &dyn Db, unit: &Unit) -> Option<PathBuf> {
    let folder = unit.source().parent()?.join("targets");
    let file = folder.join(format!("{}.yaml", unit.target.name()));
    db.world().system().stamp(&file).is_ok().then_some(file)
}
