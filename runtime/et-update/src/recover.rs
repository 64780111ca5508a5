//! The switch between versions, which any process can complete.
//!
//! The earlier files get second names first, and those names reach the disk; then each new file takes the place of its file at once. A file is
//! never missing. Executable files come last, so that the old binary completes a switch that was cut.

use std::io;
use std::path::Path;

use crate::Error;
use crate::disk::Disk;
use crate::place::Place;
use crate::record::{self, Phase, Record, RecordedFile};

/// What a start found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// No switch was open.
    None,
    /// A switch was open and is complete now: the files are others than when this process started.
    Completed,
}

/// Completes a switch that a stopped process left open.
///
/// # Errors
/// Refusals of the system, and a damaged record.
pub fn recover(disk: &dyn Disk, place: &Place) -> Result<Recovery, Error> {
    if !disk.exists(&place.update()) {
        return Ok(Recovery::None);
    }
    let _lock = lock(disk, place)?;
    recover_locked(disk, place)
}

pub(crate) fn lock(disk: &dyn Disk, place: &Place) -> Result<Box<dyn std::any::Any>, Error> {
    disk.lock(&place.lock()).map_err(Error::at(&place.lock()))
}

pub(crate) fn recover_locked(disk: &dyn Disk, place: &Place) -> Result<Recovery, Error> {
    match record::read(disk, place)? {
        Some(record) if record.is_open() => switch(disk, place, record).map(|()| Recovery::Completed),
        _ => Ok(Recovery::None),
    }
}

/// Performs the switch of the record, from the start or from wherever another process stopped.
pub(crate) fn switch(disk: &dyn Disk, place: &Place, mut record: Record) -> Result<(), Error> {
    record.files.sort_by_key(|file| file.executable);
    if record.phase == Phase::Back {
        record.files.iter().try_for_each(|file| put_back(disk, place, file))?;
        sync(disk, &place.folder)?;
        record::remove(disk, place)?;
        return clear(disk, &place.old_files());
    }
    record.files.iter().try_for_each(|file| keep(disk, place, file))?;
    sync(disk, &place.old_files())?;
    record.files.iter().try_for_each(|file| bring(disk, place, file))?;
    sync(disk, &place.folder)?;
    record::write(disk, place, &Record { phase: Phase::Trial(0), ..record })?;
    clear(disk, &place.new_files())
}

/// Gives the earlier file a second name, unless its place is taken already.
fn keep(disk: &dyn Disk, place: &Place, file: &RecordedFile) -> Result<(), Error> {
    let (live, kept) = (place.live(&file.name), place.old_files().join(&file.name));
    let is_brought = file.after.is_some() && !disk.exists(&place.new_files().join(&file.name));
    if file.before.is_none() || is_brought || disk.exists(&kept) || !disk.exists(&live) {
        return Ok(());
    }
    disk.link(&live, &kept).or_else(|_| copy(disk, &live, &kept, file.executable)).map_err(Error::at(&kept))
}

fn copy(disk: &dyn Disk, from: &Path, to: &Path, executable: bool) -> io::Result<()> {
    let mut source = disk.open(from)?.ok_or(io::ErrorKind::NotFound)?;
    let part = to.with_extension("part");
    let mut target = disk.create(&part, executable)?;
    io::copy(&mut source, &mut target)?;
    target.sync()?;
    disk.rename(&part, to)
}

/// The new file takes its place.
fn bring(disk: &dyn Disk, place: &Place, file: &RecordedFile) -> Result<(), Error> {
    let (live, new) = (place.live(&file.name), place.new_files().join(&file.name));
    let brought = match &file.after {
        Some(_) if disk.exists(&new) => disk.rename(&new, &live),
        Some(_) => Ok(()),
        None => disk.remove(&live),
    };
    brought.map_err(Error::at(&live))
}

/// The earlier file takes its place again.
fn put_back(disk: &dyn Disk, place: &Place, file: &RecordedFile) -> Result<(), Error> {
    let (live, kept) = (place.live(&file.name), place.old_files().join(&file.name));
    let done = match &file.before {
        Some(_) if disk.exists(&kept) => disk.rename(&kept, &live),
        Some(_) => Ok(()),
        None => disk.remove(&live),
    };
    done.map_err(Error::at(&live))
}

pub(crate) fn sync(disk: &dyn Disk, folder: &Path) -> Result<(), Error> {
    disk.sync_folder(folder).map_err(Error::at(folder))
}

/// Removes a folder of files.
pub(crate) fn clear(disk: &dyn Disk, folder: &Path) -> Result<(), Error> {
    let cleared = disk.list(folder).and_then(|files| {
        files.iter().try_for_each(|file| disk.remove(file))?;
        disk.remove_folder(folder)
    });
    cleared.map_err(Error::at(folder))
}
