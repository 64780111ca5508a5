//! A folder of a store handle, for the files being written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Access, Durability, Staged};
use crate::StoreError;
use crate::file_lock::{self, Mode};
use crate::process::ProcessId;

/// The file in a scratch folder that the owner keeps locked.
pub(super) const OWNER: &str = "owner";

/// Tells apart the scratch folders of a process.
static NEXT_FOLDER: AtomicU64 = AtomicU64::new(0);

/// A folder for files being written, made when first needed and removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(super) folder: PathBuf,
    owner: Mutex<Option<File>>,
    next_file: AtomicU64,
}

impl Scratch {
    /// A folder below `temporary` that no other scratch uses.
    pub fn new(temporary: &Path) -> Self {
        let number = NEXT_FOLDER.fetch_add(1, Ordering::Relaxed);
        let folder = temporary.join(format!("{}-{number}", ProcessId::current()));
        Self { folder, owner: Mutex::new(None), next_file: AtomicU64::new(0) }
    }

    /// A new empty file.
    pub fn stage(&self) -> Result<Staged, StoreError> {
        self.claim()?;
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        Staged::create(self.folder.join(number.to_string()), Access::ReadOnly)
    }

    /// A second name for a file, or `None` where the system refuses: for a file on another file system, say.
    pub fn stage_name_of(&self, file: &Path) -> Result<Option<Staged>, StoreError> {
        self.claim()?;
        let path = self.folder.join(self.next_file.fetch_add(1, Ordering::Relaxed).to_string());
        match fs::hard_link(file, &path) {
            Ok(()) => Staged::open(path).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Replaces `destination` by a file that holds `bytes`.
    pub fn write(&self, destination: &Path, bytes: &[u8], durability: Durability) -> Result<(), StoreError> {
        let mut staged = self.stage()?;
        staged.append(bytes)?;
        if durability == Durability::Synced {
            staged.sync()?;
        }
        staged.publish(destination)
    }

    /// Makes the folder and locks the owner file, once.
    fn claim(&self) -> Result<(), StoreError> {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if owner.is_none() {
            let path = self.folder.join(OWNER);
            let file = file_lock::open(&path)?;
            file_lock::lock(&file, Mode::Exclusive, &path, || {})?;
            *owner = Some(file);
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let owner = self.owner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if owner.take().is_some() {
            // The remaining files are swept by the process that opens the store next.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishing_replaces_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(&folder.path().join("tmp"));
        let destination = folder.path().join("a/b");
        scratch.write(&destination, b"one", Durability::Cached).unwrap();
        scratch.write(&destination, b"two", Durability::Synced).unwrap();
        assert_eq!(fs::read(&destination).unwrap(), b"two");
    }

    #[test]
    fn a_scratch_that_never_wrote_leaves_no_trace_and_one_that_did_cleans_up() {
        let folder = tempfile::tempdir().unwrap();
        let (idle, busy) = (Scratch::new(folder.path()), Scratch::new(folder.path()));
        drop(busy.stage().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop((idle, busy));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
