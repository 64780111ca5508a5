//! Locks on files, which the kernel releases when the process ends, however the process ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use crate::StoreError;

/// How a file is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Shared with other shared holders.
    Shared,
    /// Alone.
    Exclusive,
}

/// Opens a lock file, and makes missing files and folders.
pub(crate) fn open(path: &Path) -> Result<File, StoreError> {
    let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let opened = open().or_else(|error| match (error.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(folder)) => fs::create_dir_all(folder).and_then(|()| open()),
        _ => Err(error),
    });
    opened.map_err(|error| StoreError::io(path, error))
}

/// Locks `file`, unless that means to wait; then returns `false`.
pub(crate) fn try_lock(file: &File, mode: Mode, path: &Path) -> Result<bool, StoreError> {
    let outcome = match mode {
        Mode::Shared => file.try_lock_shared(),
        Mode::Exclusive => file.try_lock(),
    };
    match outcome {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(StoreError::io(path, error)),
    }
}

/// Locks `file`; calls `on_wait` first when that means to wait.
pub(crate) fn lock(file: &File, mode: Mode, path: &Path, on_wait: impl FnOnce()) -> Result<(), StoreError> {
    if try_lock(file, mode, path)? {
        return Ok(());
    }
    on_wait();
    wait(file, mode).map_err(|error| StoreError::io(path, error))
}

/// Waits for the lock, also through signals that the program handles.
fn wait(file: &File, mode: Mode) -> io::Result<()> {
    loop {
        let outcome = match mode {
            Mode::Shared => file.lock_shared(),
            Mode::Exclusive => file.lock(),
        };
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
