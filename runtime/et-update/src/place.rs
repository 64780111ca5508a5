//! The place of a deployed version, and of what an update keeps beside the version.

use std::path::{Path, PathBuf};

/// The folder of a deployed version and the name of its binary or program file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder.
    pub folder: PathBuf,
    /// The name without its ending.
    pub name: String,
    /// The name of the file, where the version is a single file: the delta may know the file by another name.
    pub single: Option<String>,
}

impl Place {
    /// A version that is a folder.
    pub fn folder(folder: &Path, name: &str) -> Self {
        Self { folder: folder.to_owned(), name: name.to_owned(), single: None }
    }

    /// A version that is a single file.
    pub fn file(file: &Path) -> Self {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let single = file.file_name().map(|name| name.to_string_lossy().into_owned());
        Self { folder: folder.to_owned(), name, single }
    }

    /// The path of a file of the version.
    pub(crate) fn live(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder of an update: `.NAME.update`.
    pub fn update(&self) -> PathBuf {
        self.folder.join(format!(".{}.update", self.name))
    }

    /// The bundle beside the binary: `NAME.etb`.
    pub fn bundle(&self) -> PathBuf {
        self.folder.join(format!("{}.etb", self.name))
    }

    /// The folder of complete new files.
    pub(crate) fn new_files(&self) -> PathBuf {
        self.update().join("new")
    }

    /// The folder of the files of the earlier version.
    pub(crate) fn old_files(&self) -> PathBuf {
        self.update().join("old")
    }

    /// The record.
    pub(crate) fn record(&self) -> PathBuf {
        self.update().join("record")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.update().join("lock")
    }
}

/// Whether a text names a file in a folder on every system: no separators, no other stream or drive of Windows, not hidden, as the folder of
/// an update is.
pub fn is_file_name(name: &str) -> bool {
    let is_safe = |letter: char| !letter.is_control() && !"/\\:*?\"<>|".contains(letter);
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.ends_with(['.', ' '])
        && name.chars().all(is_safe)
}
