//! Files inside the etbuild binary: the device crates' sources and the project templates.

use crate::LinkError;

/// A folder of files.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedFolder {
    /// The last part of the path.
    pub name: &'static str,
    /// The files, sorted by path.
    pub files: &'static [EmbeddedFile],
}

/// A file.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedFile {
    /// The path below the folder, with `/` between the parts.
    pub path: &'static str,
    /// The contents.
    pub bytes: &'static [u8],
}

impl EmbeddedFolder {
    /// The contents of the file at `path`.
    pub fn file(&self, path: &str) -> Option<&'static [u8]> {
        self.files.iter().find(|file| file.path == path).map(|file| file.bytes)
    }
}

/// The contents of the file at `path` below one of the folders.
///
/// # Errors
/// [`LinkError::Template`] where there is none, which tests exclude.
pub fn embedded_file(
    folders: impl IntoIterator<Item = &'static EmbeddedFolder>,
    path: &str,
) -> Result<&'static [u8], LinkError> {
    let found = folders.into_iter().find_map(|folder| folder.file(path));
    found.ok_or_else(|| LinkError::Template(format!("`{path}` is missing")))
}

/// A header of the C interface.
///
/// # Errors
/// As of [`embedded_file`].
pub fn header(name: &str) -> Result<&'static [u8], LinkError> {
    embedded_file(CRATES.iter().filter(|folder| folder.name == "et-c"), &format!("src/{name}"))
}

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
