//! What can keep a check from being made.

use std::io;
use std::path::PathBuf;

/// A check could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Cargo cannot describe the workspace.
    #[error(transparent)]
    Workspace(#[from] cargo_metadata::Error),
    /// The arrow table is not TOML of the expected form.
    #[error("arrows.toml: {0}")]
    Arrows(#[from] toml::de::Error),
    /// A schema cannot be printed.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl Error {
    /// A file error.
    pub fn file(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::File { path: path.into(), source }
    }
}
