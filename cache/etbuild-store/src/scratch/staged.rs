//! A file being written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Digest, StoreError};

/// Whether a file's bytes are on the disk before the name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Forced to the disk: survives a loss of power.
    Synced,
    /// Left to the system: a loss of power may tear the file, which the checksum shows.
    Cached,
}

/// The permissions of a published file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Only read: mode 0444.
    ReadOnly,
    /// Read and written: mode 0644, less the process's mask.
    Writable,
    /// Also run: mode 0755, less the process's mask.
    Executable,
}

/// A file being written. Dropping an unpublished file removes the file.
#[derive(Debug)]
pub(crate) struct Staged {
    file: File,
    path: PathBuf,
    size: u64,
    published: bool,
}

impl Staged {
    /// A new file at `path`, which must be on the file system of the published file.
    pub fn create(path: PathBuf, access: Access) -> Result<Self, StoreError> {
        let file = options(access).open(&path).map_err(|error| StoreError::io(&path, error))?;
        Ok(Self { file, path, size: 0, published: false })
    }

    /// An existing file at `path`, which must not be appended to.
    pub fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = File::open(&path).map_err(|error| StoreError::io(&path, error))?;
        Ok(Self { file, path, size: 0, published: false })
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.size += bytes.len() as u64;
        self.file.write_all(bytes).map_err(|error| StoreError::while_writing(&self.path, self.size, error))
    }

    /// Appends all of `source`, a file at `path`. The system copies the bytes, without a detour through this process.
    pub fn append_file(&mut self, source: &mut File, path: &Path) -> Result<(), StoreError> {
        let wanted = source.metadata().map_err(|error| StoreError::io(path, error))?.len();
        let copied = io::copy(source, &mut self.file);
        self.size += copied.map_err(|error| StoreError::while_writing(&self.path, self.size + wanted, error))?;
        Ok(())
    }

    /// The result of `map` on the written file, which must not be appended to any more.
    pub fn map<T>(&self, map: impl FnOnce(&File) -> io::Result<T>) -> Result<T, StoreError> {
        map(&self.file).map_err(|error| StoreError::io(&self.path, error))
    }

    pub fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_all().map_err(|error| StoreError::while_writing(&self.path, self.size, error))
    }

    /// Gives the file the final name, over a file of that name. Makes missing folders.
    pub fn publish(mut self, destination: &Path) -> Result<(), StoreError> {
        self.rename(destination)?;
        self.published = true;
        Ok(())
    }

    /// The same for a name that tells the bytes: Windows replaces no file that is mapped, and one with the bytes need not be replaced.
    pub fn publish_bytes(self, destination: &Path, digest: &Digest) -> Result<(), StoreError> {
        match self.publish(destination) {
            Err(StoreError::Denied { .. })
                if cfg!(windows) && fs::read(destination).is_ok_and(|bytes| Digest::of(&bytes) == *digest) =>
            {
                Ok(())
            }
            published => published,
        }
    }

    /// The same for another name of a file: a rename to a name of the same file succeeds and leaves both names.
    pub fn publish_name(self, destination: &Path) -> Result<(), StoreError> {
        self.rename(destination)
    }

    fn rename(&self, destination: &Path) -> Result<(), StoreError> {
        let renamed = fs::rename(&self.path, destination).or_else(|error| match (error.kind(), destination.parent()) {
            (io::ErrorKind::NotFound, Some(folder)) => {
                fs::create_dir_all(folder).and_then(|()| fs::rename(&self.path, destination))
            }
            _ => Err(error),
        });
        renamed.map_err(|error| StoreError::while_writing(destination, self.size, error))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.published {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn options(access: Access) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode(access));
    #[cfg(not(unix))]
    let _ = access;
    options
}

#[cfg(unix)]
fn mode(access: Access) -> u32 {
    match access {
        Access::ReadOnly => 0o444,
        Access::Writable => 0o644,
        Access::Executable => 0o755,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_named_with_the_bytes_wanted() {
        let path = PathBuf::from("/dev/full");
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let mut staged = Staged { file, path: path.clone(), size: 0, published: true };
        let error = staged.append(&[0; 4096]).unwrap_err();
        assert!(matches!(error, StoreError::Full { path: at, wanted: 4096, .. } if at == path));
    }

    #[test]
    fn what_is_not_published_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(folder.path());
        let mut staged = scratch.stage().unwrap();
        staged.append(b"half").unwrap();
        let path = staged.path.clone();
        assert!(path.exists());
        drop(staged);
        assert!(!path.exists());
    }
}
