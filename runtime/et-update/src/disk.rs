//! The accesses to files that an update needs. Tests fail each access, and cut the power behind each access.

use std::any::Any;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// A file to read.
pub trait ReadSeek: Read + Seek {}

impl<R: Read + Seek> ReadSeek for R {}

/// A new file.
pub trait NewFile: Write {
    /// Brings the bytes to the disk.
    ///
    /// # Errors
    /// The refusal of the system.
    fn sync(&mut self) -> io::Result<()>;
}

/// Files in folders. Changes of names reach the disk with [`Disk::sync_folder`].
pub trait Disk {
    /// Opens a file; `None` for no such file.
    ///
    /// # Errors
    /// The refusal of the system.
    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn ReadSeek>>>;

    /// Whether there is such a file.
    fn exists(&self, path: &Path) -> bool;

    /// The files and folders in a folder; none for no such folder.
    ///
    /// # Errors
    /// The refusal of the system.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes a folder, unless there is such a folder.
    ///
    /// # Errors
    /// The refusal of the system.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Makes an empty file in place of any.
    ///
    /// # Errors
    /// The refusal of the system.
    fn create(&self, path: &Path, executable: bool) -> io::Result<Box<dyn NewFile>>;

    /// Gives a file a second name.
    ///
    /// # Errors
    /// The refusal of the system; some file systems have no second names.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file, in place of any file of the new name.
    ///
    /// # Errors
    /// The refusal of the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file, unless there is no such file.
    ///
    /// # Errors
    /// The refusal of the system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder, unless there is no such folder.
    ///
    /// # Errors
    /// The refusal of the system.
    fn remove_folder(&self, folder: &Path) -> io::Result<()>;

    /// Brings the names of a folder's files to the disk.
    ///
    /// # Errors
    /// The refusal of the system.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Waits until no other process holds the lock, and holds the lock as long as the value lives.
    ///
    /// # Errors
    /// The refusal of the system.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any>>;
}
