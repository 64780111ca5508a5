//! Starting over.

use std::path::Path;
use std::{fs, io};

use crate::{Store, StoreError};

impl Store {
    /// Removes everything, after running builds have ended. Records go first: at no moment does a record name a blob
    /// that this has removed. The caller must not hold a [`crate::Lease`].
    pub fn clear(&self) -> Result<(), StoreError> {
        let _alone = self.keep_builds_out()?;
        let layout = self.layout();
        let folders =
            [layout.records(), layout.blobs(), layout.quarantine(), layout.histories(), layout.memos(), layout.roots()];
        folders.iter().chain([&layout.locks()]).try_for_each(|folder| remove_folder(folder))?;
        self.sweep();
        Ok(())
    }
}

fn remove_folder(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(folder, error)),
        _ => Ok(()),
    }
}
