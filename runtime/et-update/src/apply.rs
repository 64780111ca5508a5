//! The application of a delta.

use crate::base;
use crate::disk::Disk;
use crate::place::Place;
use crate::rebuild::{Bases, rebuild};
use crate::record::{self, Phase, Record, RecordedFile};
use crate::recover::{clear, lock, recover_locked, switch, sync};
use crate::{Delta, Error, FileChange, PublicKey};

/// The result of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The new version is in place; the earlier version is kept.
    Installed,
    /// The new version was in place before.
    AlreadyInstalled,
}

/// Brings the new version to the place of the old version. With a key, an update without the right signature is refused before anything is
/// written.
///
/// # Errors
/// All of [`Error`]. The old version is in place after an error, unless the error comes from the switch, which [`recover`](crate::recover)
/// completes.
pub fn apply(disk: &dyn Disk, place: &Place, mut delta: Delta, key: Option<&PublicKey>) -> Result<Applied, Error> {
    key.map_or(Ok(()), |key| delta.check_signature(key))?;
    if place.single.is_some() && delta.header.files.len() != 1 {
        return Err(Error::WrongBase {
            file: place.name.clone(),
            problem: "is one file, and the update is for several",
        });
    }
    disk.create_folder(&place.update()).map_err(Error::at(&place.update()))?;
    sync(disk, &place.folder)?;
    let _lock = lock(disk, place)?;
    recover_locked(disk, place)?;
    if base::is_installed(disk, place, &delta.header) {
        return Ok(Applied::AlreadyInstalled);
    }
    let mut bases = base::open(disk, place, &delta.header)?;
    let record = stage(disk, place, &mut delta, &mut bases).inspect_err(|_| {
        // The first failure is the one to tell.
        let _ = clear(disk, &place.new_files());
    })?;
    drop(bases);
    forget_earlier(disk, place)?;
    record::write(disk, place, &record)?;
    switch(disk, place, record)?;
    Ok(Applied::Installed)
}

/// Writes the complete new files.
fn stage(disk: &dyn Disk, place: &Place, delta: &mut Delta, bases: &mut Bases) -> Result<Record, Error> {
    clear(disk, &place.new_files())?;
    disk.create_folder(&place.new_files()).map_err(Error::at(&place.new_files()))?;
    let changes = delta.header.files.clone();
    let mut files = Vec::new();
    for (index, change) in changes.iter().enumerate().filter(|(_, change)| !change.is_same()) {
        let name = base::name(place, &change.name).to_owned();
        stage_file(disk, place, delta, (index, change, &name), bases)?;
        let FileChange { executable, before, after, .. } = change.clone();
        files.push(RecordedFile { name, executable, before, after });
    }
    sync(disk, &place.new_files())?;
    Ok(Record { phase: Phase::Forward, files })
}

fn stage_file(
    disk: &dyn Disk,
    place: &Place,
    delta: &mut Delta,
    (index, change, name): (usize, &FileChange, &str),
    bases: &mut Bases,
) -> Result<(), Error> {
    let Some(after) = &change.after else { return Ok(()) };
    let path = place.new_files().join(name);
    let failed = |source| Error::File { path: path.clone(), source };
    let mut file = disk.create(&path, change.executable).map_err(failed)?;
    if rebuild(delta, index, bases, &mut file, &failed)? != after.digest {
        return Err(Error::Malformed("a new file has another digest than the header says"));
    }
    file.sync().map_err(failed)
}

/// Gives up the version that an earlier update kept: from here on, the present version is the earlier version.
pub(crate) fn forget_earlier(disk: &dyn Disk, place: &Place) -> Result<(), Error> {
    record::remove(disk, place)?;
    clear(disk, &place.old_files())?;
    disk.create_folder(&place.old_files()).map_err(Error::at(&place.old_files()))?;
    sync(disk, &place.update())
}
