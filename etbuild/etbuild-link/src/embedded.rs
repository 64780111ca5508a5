//! Files inside the etbuild binary: the device crates' sources and the project templates.

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

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
