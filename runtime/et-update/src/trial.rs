//! The trial of a new version: starts are counted until a run succeeds, and too many starts without success bring the earlier version back.

use std::io;

use crate::disk::Disk;
use crate::place::Place;
use crate::record::{self, Phase, Record};
use crate::recover::{lock, recover_locked};
use crate::rollback::rollback_locked;
use crate::{Error, Recovery};

/// The starts of a new version without success after which the earlier version returns.
pub const STARTS_MOST: u32 = 3;

/// What a start of a binary found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// No trial, or one that this process may not count.
    None,
    /// A trial: the start is counted, and [`end_trial`] is wanted.
    Counted,
    /// The files are others than when this process started: start again.
    Switched,
    /// The earlier version is back, after too many starts of the new version: start again.
    RolledBack,
}

/// Completes a switch, and counts the start of a new version on trial.
///
/// A start that has neither to do writes nothing: another user than the one who updates may run the binary, and the folder may be
/// read-only. A user who may not write there runs a new version uncounted.
///
/// # Errors
/// Refusals of the system, and a damaged record or earlier version.
pub fn begin_trial(disk: &dyn Disk, place: &Place) -> Result<Trial, Error> {
    let Some(found) = record::read(disk, place)? else { return Ok(Trial::None) };
    let _lock = match (found.phase, disk.lock(&place.lock())) {
        (Phase::Kept, _) => return Ok(Trial::None),
        (Phase::Trial(_), Err(refusal)) if is_not_allowed(&refusal) => return Ok(Trial::None),
        (_, locked) => locked.map_err(Error::at(&place.lock()))?,
    };
    // Another process may have completed the switch before this process had the lock.
    if recover_locked(disk, place)? == Recovery::Completed || found.is_open() {
        return Ok(Trial::Switched);
    }
    match record::read(disk, place)? {
        Some(Record { phase: Phase::Trial(starts), files }) => match starts < STARTS_MOST {
            true => {
                record::write(disk, place, &Record { phase: Phase::Trial(starts + 1), files }).map(|()| Trial::Counted)
            }
            false => rollback_locked(disk, place, Record { phase: Phase::Back, files }).map(|()| Trial::RolledBack),
        },
        _ => Ok(Trial::None),
    }
}

fn is_not_allowed(refusal: &io::Error) -> bool {
    matches!(refusal.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Ends a trial with success: the new version stays.
///
/// # Errors
/// Refusals of the system.
pub fn end_trial(disk: &dyn Disk, place: &Place) -> Result<(), Error> {
    let _lock = lock(disk, place)?;
    match record::read(disk, place)? {
        Some(Record { phase: Phase::Trial(_), files }) => {
            record::write(disk, place, &Record { phase: Phase::Kept, files })
        }
        _ => Ok(()),
    }
}
