//! Why no delta can be made.

use std::io;
use std::path::{Path, PathBuf};

/// Why no delta can be made.
#[derive(Debug)]
pub enum Error {
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The versions are no pair; the field says why.
    NoPair(String),
    /// A key cannot be read; the field says why.
    Key(String),
    /// The delta is not one that a device takes, an error of etbuild.
    Update(et_update::Error),
}

impl Error {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }
}

impl From<et_update::Error> for Error {
    fn from(error: et_update::Error) -> Self {
        Self::Update(error)
    }
}
