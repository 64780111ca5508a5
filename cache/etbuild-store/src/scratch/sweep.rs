//! Clearing up after processes that died while writing.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::folder::OWNER;
use crate::process::ProcessId;

/// Removes the scratch folders whose process is gone, and returns the folders.
pub(crate) fn sweep(temporary: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(temporary) else {
        return Vec::new();
    };
    let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    folders.filter(|folder| is_abandoned(folder) && fs::remove_dir_all(folder).is_ok()).collect()
}

/// A folder is abandoned when the process is not seen running and the lock is free. The lock speaks for processes
/// that cannot be seen: processes in another container, and all processes on systems without `/proc`.
fn is_abandoned(folder: &Path) -> bool {
    owner_of(folder).is_some_and(|process| !process.is_seen_running()) && is_unlocked(&folder.join(OWNER))
}

fn owner_of(folder: &Path) -> Option<ProcessId> {
    let (process, _number) = folder.file_name()?.to_str()?.rsplit_once('-')?;
    process.parse().ok()
}

fn is_unlocked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn only_abandoned_folders_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let live = Scratch::new(folder.path());
        let _staged = live.stage().unwrap();
        let dead = folder.path().join("4194305-1-0");
        let unseen = folder.path().join("4194305-1-1");
        let starting = folder.path().join(format!("{}-9999", ProcessId::current()));
        let foreign = folder.path().join("notes");
        for other in [&dead, &unseen, &starting, &foreign] {
            fs::create_dir(other).unwrap();
            fs::write(other.join(OWNER), "").unwrap();
        }
        let held = File::open(unseen.join(OWNER)).unwrap();
        held.lock().unwrap();
        assert_eq!(sweep(folder.path()), [dead]);
        assert!(live.folder.exists() && unseen.exists() && starting.exists() && foreign.exists());
    }
}
