//! The installation of the files of a target. The files get their places by the switch of updates, so that a process that stops at any moment
//! leaves what the next start completes.

use crate::base::version;
use crate::disk::Disk;
use crate::place::Place;
use crate::record::{self, Phase, Record, RecordedFile};
use crate::recover::{clear, lock, recover_locked, switch, sync};
use crate::{Bundle, Entry, EntryFile, Error, apply};

/// Brings the files of `entry` to `place`, and gives up any earlier version; whether a file changed. The caller checks the signature.
///
/// # Errors
/// All of [`Error`]. The files are those from before after an error, unless the error comes from the switch, which
/// [`recover`](crate::recover) completes.
pub fn install(disk: &dyn Disk, place: &Place, bundle: &mut Bundle, entry: &Entry) -> Result<bool, Error> {
    disk.create_folder(&place.update()).map_err(Error::at(&place.update()))?;
    sync(disk, &place.folder)?;
    let _lock = lock(disk, place)?;
    recover_locked(disk, place)?;
    let record = stage(disk, place, bundle, entry).inspect_err(|_| {
        // The first failure is the one to tell.
        let _ = clear(disk, &place.new_files());
    })?;
    let is_changed = !record.files.is_empty();
    if is_changed {
        apply::forget_earlier(disk, place)?;
        record::write(disk, place, &record)?;
        switch(disk, place, record)?;
        record::remove(disk, place)?;
        clear(disk, &place.old_files())?;
    }
    Ok(is_changed)
}

/// Writes the complete files that differ from those in place.
fn stage(disk: &dyn Disk, place: &Place, bundle: &mut Bundle, entry: &Entry) -> Result<Record, Error> {
    clear(disk, &place.new_files())?;
    disk.create_folder(&place.new_files()).map_err(Error::at(&place.new_files()))?;
    let mut files = Vec::new();
    for file in &entry.files {
        let live = place.live(&file.name);
        let mut present = disk.open(&live).map_err(Error::at(&live))?;
        let before = present.as_mut().map(|present| version(&mut **present)).transpose().map_err(Error::at(&live))?;
        if before == Some(file.version) {
            continue;
        }
        stage_file(disk, place, bundle, file)?;
        let EntryFile { name, executable, version, .. } = file.clone();
        files.push(RecordedFile { name, executable, before, after: Some(version) });
    }
    sync(disk, &place.new_files())?;
    Ok(Record { phase: Phase::Forward, files })
}

fn stage_file(disk: &dyn Disk, place: &Place, bundle: &mut Bundle, file: &EntryFile) -> Result<(), Error> {
    let path = place.new_files().join(&file.name);
    let failed = |source| Error::File { path: path.clone(), source };
    let mut out = disk.create(&path, file.executable).map_err(failed)?;
    bundle.write_file(file, &mut out, &failed)?;
    out.sync().map_err(failed)
}
