//! Errors that prevent a check.

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
        /// The system's error.
        source: io::Error,
    },
    /// Cargo cannot describe the workspace.
    #[error(transparent)]
    Workspace(#[from] cargo_metadata::Error),
    /// Git failed to list the tracked files.
    #[error(transparent)]
    Git(#[from] git2::Error),
    /// A list of the repository is not TOML of the expected form.
    #[error("the list is malformed: {0}")]
    List(#[from] toml::de::Error),
    /// The medians of benchmarks are no TOML.
    #[error("medians.toml: {0}")]
    Medians(toml::ser::Error),
    /// A benchmark ended with an error.
    #[error("the example {example} ended with {status}")]
    Benchmark {
        /// The example.
        example: String,
        /// How the process ended.
        status: std::process::ExitStatus,
    },
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
