//! The disk of the operating system.

use std::any::Any;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::disk::{Disk, NewFile, ReadSeek};

/// The disk of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDisk;

impl NewFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.sync_all()
    }
}

impl Disk for SystemDisk {
    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn ReadSeek>>> {
        Ok(unless_missing(File::open(path))?.map(|file| Box::new(file) as Box<dyn ReadSeek>))
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = unless_missing(fs::read_dir(folder))?;
        let mut paths = entries
            .into_iter()
            .flatten()
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()?;
        paths.sort();
        Ok(paths)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    fn create(&self, path: &Path, executable: bool) -> io::Result<Box<dyn NewFile>> {
        // A file that stands in the way may have another name too, whose bytes stay.
        self.remove(path)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        set_mode(&mut options, executable);
        Ok(Box::new(options.open(path)?))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        unless_missing(fs::remove_file(path)).map(drop)
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        unless_missing(fs::remove_dir(folder)).map(drop)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Windows brings names to the disk itself, and opens no folders.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.lock() {
            // File systems without locks are those of devices with one process.
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(Box::new(file)),
            locked => locked.map(|()| Box::new(file) as Box<dyn Any>),
        }
    }
}

fn unless_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

#[cfg(unix)]
fn set_mode(options: &mut OpenOptions, executable: bool) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(if executable { 0o755 } else { 0o644 });
}

#[cfg(not(unix))]
fn set_mode(_: &mut OpenOptions, _: bool) {}

#[cfg(not(windows))]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Windows does not replace a file that runs, and lets it have another name.
#[cfg(windows)]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to).or_else(|_| {
        let away = from.with_extension("away");
        unless_missing(fs::remove_file(&away))?;
        fs::rename(to, &away)?;
        fs::rename(from, to)
    })
}
