//! Failures of build scripts.

use std::fmt::{Debug, Display, Formatter};
use std::path::PathBuf;

/// A failure to generate code.
pub enum Error {
    /// A variable of Cargo's build scripts is missing.
    NoBuildScript(&'static str),
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The program file is malformed.
    Malformed(et_core::Error),
    /// The program calls operators that have no kernel, or none for the types of the calls.
    Kernels(Vec<String>),
    /// The program has blobs for delegates that no backend of etbuild runs.
    Delegates(Vec<String>),
    /// A method has an input or output without a type in Rust.
    Port {
        /// The method.
        method: String,
        /// The input or output.
        port: String,
        /// The kind of the value.
        kind: &'static str,
    },
}

impl From<et_core::Error> for Error {
    fn from(error: et_core::Error) -> Self {
        Self::Malformed(error)
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoBuildScript(name) => write!(formatter, "{name} is not set: Cargo sets it for build scripts"),
            Self::File { path, source } => write!(formatter, "{}: {source}", path.display()),
            Self::Malformed(error) => write!(formatter, "the program file: {}", error.message()),
            Self::Kernels(missing) => write!(formatter, "no kernel for {}", missing.join(", ")),
            Self::Delegates(missing) => write!(formatter, "no backend for {}", missing.join(", ")),
            Self::Port { method, port, kind } => {
                write!(formatter, "method {method}: {port} is {kind}, which generated code does not have")
            }
        }
    }
}

/// Cargo shows the error of a build script in this form.
impl Debug for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        Display::fmt(self, formatter)
    }
}

impl std::error::Error for Error {}
