//! Blobs as files in a work tree.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::scratch::{Access, Staged};
use crate::verified::Stamp;
use crate::{BlobRef, Damage, Hasher, Store, StoreError};

/// How much is copied at once.
const PIECE: usize = 1 << 20;

/// Tells apart the files that a process is copying.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Store {
    /// Makes `destination` a copy of a blob, whole or not at all; makes missing folders.
    ///
    /// The copy shares no inode with the store, so that an edit of the copy leaves the store alone. The bytes are checked
    /// on their way; fails as [`Store::open_blob`] does.
    pub fn materialise(&self, blob: &BlobRef, destination: &Path, executable: bool) -> Result<(), StoreError> {
        let source = self.layout().blob(&blob.digest);
        let mut file = File::open(&source).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { blob: blob.digest },
            _ => StoreError::io(&source, error),
        })?;
        let mut staged = stage_beside(destination, executable)?;
        let found = copy(&mut file, &source, &mut staged)?;
        if found == *blob {
            return staged.publish(destination);
        }
        let stamp = file.metadata().map_err(|error| StoreError::io(&source, error))?;
        self.put_aside(&blob.digest, Stamp::of(&stamp), damage(blob, &found));
        Err(StoreError::Corrupt { blob: blob.digest })
    }
}

fn damage(blob: &BlobRef, found: &BlobRef) -> Damage {
    if found.size == blob.size {
        Damage::Content { found: found.digest }
    } else {
        Damage::Size { expected: blob.size, found: found.size }
    }
}

/// A file in the folder of `destination`, because a rename does not cross file systems.
fn stage_beside(destination: &Path, executable: bool) -> Result<Staged, StoreError> {
    let access = if executable { Access::Executable } else { Access::Writable };
    if let Some(folder) = destination.parent() {
        fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, error))?;
    }
    Staged::create(path_beside(destination), access)
}

fn path_beside(destination: &Path) -> PathBuf {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = destination.file_name().unwrap_or_default().to_string_lossy();
    destination.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()))
}

/// Copies to the end, and returns the digest of the copied bytes.
fn copy(from: &mut File, source: &Path, to: &mut Staged) -> Result<BlobRef, StoreError> {
    let mut hasher = Hasher::default();
    let mut size = 0;
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece).map_err(|error| StoreError::io(source, error))?;
        let bytes = piece.get(..length).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(BlobRef { digest: hasher.finish(), size });
        }
        hasher.update(bytes);
        to.append(bytes)?;
        size += length as u64;
    }
}
