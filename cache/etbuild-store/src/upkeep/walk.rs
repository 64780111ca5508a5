//! The files of the store, in the order of their names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::layout::digest_of_path;
use crate::{Digest, StoreError};

/// Clocks of machines that share a cache differ by less.
const CLOCK_SKEW: Duration = Duration::from_secs(24 * 3600);

/// A file whose name is a digest.
#[derive(Debug)]
pub(super) struct Entry {
    pub path: PathBuf,
    pub digest: Digest,
    pub size: u64,
    /// The time of the last write or use. A time in the future by more than a day is meaningless, so that the file counts as
    /// the longest unused.
    pub used: SystemTime,
}

impl Entry {
    fn new(path: PathBuf) -> Option<Self> {
        let digest = digest_of_path(&path)?;
        let metadata = fs::symlink_metadata(&path).ok().filter(|metadata| metadata.is_file())?;
        let now = SystemTime::now();
        let used = metadata.modified().unwrap_or(now);
        let used = if used > now + CLOCK_SKEW { SystemTime::UNIX_EPOCH } else { used };
        Some(Self { path, digest, size: metadata.len(), used })
    }

    /// Time since the last use; zero for a file from the future.
    pub fn age(&self) -> Duration {
        self.used.elapsed().unwrap_or_default()
    }

    /// Removes the file; a missing file is no error.
    pub fn remove(&self) -> Result<(), StoreError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&self.path, error)),
            _ => Ok(()),
        }
    }
}

/// The files of a sharded folder. Files of other programs are
/// passed over, links included: a folder behind a link is not the store's to clean.
pub(super) fn entries(sharded: &Path) -> Result<Vec<Entry>, StoreError> {
    let mut entries = Vec::new();
    for shard in children(sharded)?.into_iter().filter(|shard| is_folder(shard)) {
        entries.extend(children(&shard)?.into_iter().filter_map(Entry::new));
    }
    Ok(entries)
}

/// Whether the path is a folder, and not a link to a folder.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// The entries of a folder, by name; empty for a missing folder, or for another file type.
pub(super) fn children(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let listed = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    match listed {
        Ok(paths) => Ok(sorted(paths)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(StoreError::io(folder, error)),
    }
}

fn sorted(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shard_with_blob(folder: &Path) -> PathBuf {
        let name = Digest::of(b"blob").to_string();
        let path = folder.join(&name[..2]).join(&name[2..]);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, b"blob").unwrap();
        path
    }

    #[test]
    fn a_file_from_the_far_future_counts_as_unused() {
        let folder = tempfile::tempdir().unwrap();
        let path = shard_with_blob(folder.path());
        let set = |time| fs::File::open(&path).unwrap().set_modified(time).unwrap();
        let age = || entries(folder.path()).unwrap()[0].age();
        set(SystemTime::now() + Duration::from_secs(60));
        assert!(age() < CLOCK_SKEW);
        set(SystemTime::now() + 366 * CLOCK_SKEW);
        assert!(age() > 366 * CLOCK_SKEW);
    }

    #[test]
    fn links_to_folders_and_files_are_passed_over() {
        let [store, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let blob = shard_with_blob(elsewhere.path());
        let shard = store.path().join(blob.parent().and_then(Path::file_name).unwrap());
        std::os::unix::fs::symlink(blob.parent().unwrap(), &shard).unwrap();
        assert!(entries(store.path()).unwrap().is_empty());
        fs::remove_file(&shard).unwrap();
        fs::create_dir(&shard).unwrap();
        std::os::unix::fs::symlink(&blob, shard.join(blob.file_name().unwrap())).unwrap();
        assert!(entries(store.path()).unwrap().is_empty());
        assert_eq!(entries(elsewhere.path()).unwrap().len(), 1);
    }
}
