//! Failures of updates and bundles: a stable code, a sentence, a hint.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A failure of an update. The deployed version is unchanged, or a record on the disk says how to complete the switch.
#[derive(Debug)]
pub enum Error {
    /// The bytes are no delta or bundle, or damaged; the field names the mistake.
    Malformed(&'static str),
    /// The deployed files are not those that the delta was made from.
    WrongBase {
        /// The file that differs.
        file: String,
        /// The difference.
        problem: &'static str,
    },
    /// The device has a key, and the delta has no signature.
    Unsigned,
    /// The signature of the delta is not one of the device's key.
    WrongSignature,
    /// No earlier version is kept.
    NoEarlierVersion,
    /// A folder has several updated versions.
    SeveralVersions {
        /// The folder.
        folder: PathBuf,
        /// Their names.
        names: String,
    },
    /// A kept file or the record of an update is damaged.
    Damaged(PathBuf),
    /// The bundle has no version for this machine.
    NoTarget {
        /// The machine, or what the user asked for.
        wanted: String,
        /// The targets of the bundle with their platforms and chips.
        known: String,
    },
    /// The system refused an access to a file.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Error {
    /// Makes errors of the system about `path`.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }

    /// The stable code, which `etbuild explain` knows.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "ETB0612",
            Self::WrongBase { .. } => "ETB0613",
            Self::Unsigned | Self::WrongSignature => "ETB0614",
            Self::NoEarlierVersion | Self::SeveralVersions { .. } | Self::Damaged(_) => "ETB0615",
            Self::NoTarget { .. } => "ETB0616",
            Self::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => "ETB0603",
            Self::File { .. } => "ETB0604",
        }
    }

    /// The remedy, an imperative.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Malformed(_) => {
                "download the file again; `etbuild delta` makes updates, and `etbuild bundle` bundles"
            }
            Self::WrongBase { .. } => "make a delta from the deployed version, or deploy the new version as a whole",
            Self::Unsigned => {
                "sign the file: `etbuild delta --key`, or `etbuild bundle make --key`, with the secret key of the device's public key"
            }
            Self::WrongSignature => "take a file that is signed with the secret key of the device's public key",
            Self::NoEarlierVersion => "deploy the earlier version as a whole",
            Self::SeveralVersions { .. } => "name the program file of one of these",
            Self::NoTarget { .. } => {
                "add a target for this machine to the bundle, or name one of its chips or targets with `--chip`"
            }
            Self::Damaged(_) => "deploy the version as a whole",
            Self::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "free as many bytes as the new files have: the old files stay until the new files are complete"
            }
            Self::File { .. } => "check the permissions and the disk",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(mistake) => write!(formatter, "the update or bundle is damaged: {mistake}"),
            Self::WrongBase { file, problem } => {
                write!(formatter, "the update was made from another version: `{file}` {problem}")
            }
            Self::Unsigned => formatter.write_str("the update or bundle has no signature, and this device has a key"),
            Self::WrongSignature => {
                formatter.write_str("the signature of the update or bundle is not one of this device's key")
            }
            Self::NoTarget { wanted, known } => {
                write!(formatter, "the bundle has nothing for {wanted}; the bundle is for {known}")
            }
            Self::SeveralVersions { folder, names } => {
                write!(formatter, "`{}` has several updated versions: {names}", folder.display())
            }
            Self::NoEarlierVersion => formatter.write_str("no earlier version is kept"),
            Self::Damaged(path) => write!(formatter, "`{}` is damaged", path.display()),
            Self::File { path, source } => write!(formatter, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}
