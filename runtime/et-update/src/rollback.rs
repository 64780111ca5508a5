//! The way back to the earlier version, and its end.

use crate::Error;
use crate::base::is_version;
use crate::disk::Disk;
use crate::place::Place;
use crate::record::{self, Phase, Record, RecordedFile};
use crate::recover::{clear, lock, recover_locked, switch};

/// Returns to the earlier version, whose files are checked first.
///
/// # Errors
/// [`Error::NoEarlierVersion`], [`Error::Damaged`] for a file that changed meanwhile, and refusals of the system.
pub fn rollback(disk: &dyn Disk, place: &Place) -> Result<(), Error> {
    let found = kept(disk, place)?;
    let _lock = lock(disk, place)?;
    recover_locked(disk, place)?;
    match record::read(disk, place)? {
        Some(record) => rollback_locked(disk, place, record),
        // A rollback that was cut is complete now.
        None if found.phase == Phase::Back => Ok(()),
        None => Err(Error::NoEarlierVersion),
    }
}

pub(crate) fn rollback_locked(disk: &dyn Disk, place: &Place, record: Record) -> Result<(), Error> {
    record.files.iter().try_for_each(|file| check(disk, place, file))?;
    let record = Record { phase: Phase::Back, ..record };
    record::write(disk, place, &record)?;
    switch(disk, place, record)
}

/// Gives up the earlier version. Its bytes are free again.
///
/// # Errors
/// [`Error::NoEarlierVersion`] and refusals of the system.
pub fn confirm(disk: &dyn Disk, place: &Place) -> Result<(), Error> {
    kept(disk, place)?;
    let _lock = lock(disk, place)?;
    recover_locked(disk, place)?;
    record::remove(disk, place)?;
    clear(disk, &place.old_files())
}

/// The record of an update whose earlier version is kept.
fn kept(disk: &dyn Disk, place: &Place) -> Result<Record, Error> {
    record::read(disk, place)?.ok_or(Error::NoEarlierVersion)
}

fn check(disk: &dyn Disk, place: &Place, file: &RecordedFile) -> Result<(), Error> {
    let path = place.old_files().join(&file.name);
    let Some(before) = &file.before else { return Ok(()) };
    let opened = disk.open(&path).map_err(Error::at(&path))?;
    match opened.map(|mut kept| is_version(&mut *kept, before)) {
        Some(Ok(true)) => Ok(()),
        _ => Err(Error::Damaged(path)),
    }
}
