//! The files of the store, in the order of their names.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::layout::digest_of_path;
use crate::{Digest, StoreError};

/// A file whose name is a digest.
#[derive(Debug)]
pub(super) struct Entry {
    pub path: PathBuf,
    pub digest: Digest,
    pub size: u64,
    /// When it was last written or used.
    pub used: SystemTime,
}

impl Entry {
    fn new(path: PathBuf) -> Option<Self> {
        let digest = digest_of_path(&path)?;
        let metadata = fs::metadata(&path).ok().filter(Metadata::is_file)?;
        let used = metadata.modified().unwrap_or_else(|_| SystemTime::now());
        Some(Self { path, digest, size: metadata.len(), used })
    }

    /// Time since its last use; none for a file from the future.
    pub fn age(&self) -> Duration {
        self.used.elapsed().unwrap_or_default()
    }

    /// Removes the file; one that is gone already is as good.
    pub fn remove(&self) -> Result<(), StoreError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&self.path, error)),
            _ => Ok(()),
        }
    }
}

/// The files of a sharded folder. Files that the store did not put there are passed over.
pub(super) fn entries(sharded: &Path) -> Result<Vec<Entry>, StoreError> {
    let mut entries = Vec::new();
    for shard in children(sharded)? {
        entries.extend(children(&shard)?.into_iter().filter_map(Entry::new));
    }
    Ok(entries)
}

/// What lies in a folder, by name; nothing in one that is missing, or is no folder.
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
