//! A machine that exists in memory only, for tests.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::{FileStamp, Invocation, Outcome, System};

/// Files and variables in maps; no process can be started; the clock stands still.
#[derive(Debug, Default)]
pub struct MemorySystem {
    files: Mutex<BTreeMap<PathBuf, (Vec<u8>, i128)>>,
    variables: BTreeMap<String, String>,
}

impl MemorySystem {
    /// A system with these files.
    pub fn with_files<P: Into<PathBuf>, B: Into<Vec<u8>>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        let files = files.into_iter().map(|(path, bytes)| (path.into(), (bytes.into(), 0))).collect();
        Self { files: Mutex::new(files), ..Self::default() }
    }

    /// Adds a variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn files(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, (Vec<u8>, i128)>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System for MemorySystem {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files().get(path).map(|(bytes, _)| bytes.clone()).ok_or_else(not_found)
    }

    fn stamp(&self, path: &Path) -> io::Result<FileStamp> {
        let files = self.files();
        let (bytes, version) = files.get(path).ok_or_else(not_found)?;
        Ok(FileStamp { size: bytes.len() as u64, modified_ns: *version, changed_ns: *version, inode: 0 })
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.files().keys().any(|file| file != path && file.starts_with(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        if !self.is_dir(path) {
            return Err(not_found());
        }
        let files = self.files();
        let below = files.keys().filter_map(|file| file.strip_prefix(path).ok());
        let mut entries: Vec<PathBuf> =
            below.filter_map(|file| file.iter().next().map(|name| path.join(name))).collect();
        entries.dedup();
        Ok(entries)
    }

    fn write(&self, path: &Path, bytes: &[u8], _executable: bool) -> io::Result<()> {
        let mut files = self.files();
        let version = files.get(path).map_or(0, |(_, version)| version + 1);
        files.insert(path.to_owned(), (bytes.to_vec(), version));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut files = self.files();
        let before = files.len();
        files.retain(|file, _| !file.starts_with(path));
        if files.len() == before { Err(not_found()) } else { Ok(()) }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn run(&self, _invocation: &Invocation) -> io::Result<Outcome> {
        Err(not_found())
    }
}

fn not_found() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_reads_back_and_changes_its_stamp() {
        let system = MemorySystem::with_files([("a/b", "one")]);
        let before = system.stamp(Path::new("a/b")).unwrap();
        system.write(Path::new("a/b"), b"two", false).unwrap();
        assert_eq!(system.read(Path::new("a/b")).unwrap(), b"two");
        assert_ne!(system.stamp(Path::new("a/b")).unwrap(), before);
    }

    #[test]
    fn folders_exist_by_having_files() {
        let system = MemorySystem::with_files([("a/b/c", ""), ("a/d", "")]);
        assert_eq!(system.list(Path::new("a")).unwrap(), [PathBuf::from("a/b"), PathBuf::from("a/d")]);
        assert!(system.is_dir(Path::new("a/b")) && !system.is_dir(Path::new("a/d")));
    }
}
