//! Files that the store holds beside their owner, by a second name: a checkpoint of gigabytes is not copied.
//!
//! The owner may write to a shared file. The store hashes the file at each opening, as every blob; a changed file leaves the store
//! without a report of damage; and a reader calls `Blob::is_as_opened` before results count.

use std::fs::{File, Metadata};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

/// A file at the time of opening.
#[derive(Debug)]
pub(crate) struct Shared {
    file: File,
    opened: Written,
}

/// The metadata that writing to a file changes; further names of the file change none of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    size: u64,
    modified: Option<SystemTime>,
}

impl Written {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { size: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl Shared {
    /// The metadata to watch of a file that is about to be read; `None` for a file of the store alone.
    pub fn watch(file: &File) -> io::Result<Option<Arc<Self>>> {
        if !is_shared(&file.metadata()?) {
            return Ok(None);
        }
        let opened = Written::of(file)?;
        Ok(Some(Arc::new(Self { file: file.try_clone()?, opened })))
    }

    pub fn is_as_opened(&self) -> bool {
        Written::of(&self.file).is_ok_and(|now| now == self.opened)
    }
}

/// Whether a file has a name outside the store: files of the store alone have a single name.
#[cfg(unix)]
pub(crate) fn is_shared(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
pub(crate) fn is_shared(_metadata: &Metadata) -> bool {
    false
}
