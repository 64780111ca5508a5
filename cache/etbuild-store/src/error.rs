//! Failures of the store.

use std::io;
use std::path::{Path, PathBuf};

use crate::{ActionKey, Digest};

/// A failure of the store.
///
/// All failures but the failures with [`StoreError::is_bug`] come from the machine and may be gone at the next try; a caller
/// must not remember a machine's failure as the result of a stage.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk, the quota or the limit on file sizes is used up.
    #[error("no room for {wanted} bytes at {}: {source}", path.display())]
    Full {
        /// The file being written.
        path: PathBuf,
        /// How many bytes that file was to hold, as far as known when the room ran out.
        wanted: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// The store's folder may not be written, or the files may not be read.
    #[error("no permission for {}: {source}", path.display())]
    Denied {
        /// The file or folder that was refused.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A blob's bytes did not have the digest of the name. The blob has been put aside; derive the blob again.
    #[error("blob {blob} was corrupt; it is now in quarantine")]
    Corrupt {
        /// The name.
        blob: Digest,
    },
    /// The blob is missing: never stored, or removed. Derive the blob again.
    #[error("blob {blob} is not in the store")]
    Missing {
        /// The name.
        blob: Digest,
    },
    /// Any other failure of the file system.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The caller recorded an output without storing the output.
    #[error("action {action} records output {name:?}, but blob {blob} is not in the store")]
    UnstoredOutput {
        /// The action.
        action: ActionKey,
        /// The output's name.
        name: String,
        /// The blob of the output.
        blob: Digest,
    },
    /// A value could not be encoded.
    #[error("a record could not be encoded: {0}")]
    Encoding(#[from] postcard::Error),
}

impl StoreError {
    /// Whether the fault is in the program that uses the store, so that trying again cannot help.
    pub fn is_bug(&self) -> bool {
        matches!(self, Self::UnstoredOutput { .. } | Self::Encoding(_))
    }

    /// Whether the fault is the machine's, and may be gone at the next try.
    pub fn is_transient(&self) -> bool {
        !self.is_bug()
    }

    /// The failure that `source` means for `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::while_writing(path, 0, source)
    }

    /// The failure that `source` means for a file that was to hold `wanted` bytes.
    pub(crate) fn while_writing(path: &Path, wanted: u64, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let path = path.to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::Full { path, wanted, source },
            PermissionDenied | ReadOnlyFilesystem => Self::Denied { path, source },
            _ => Self::Io { path, source },
        }
    }
}

impl From<StoreError> for io::Error {
    /// Keeps the system's kind; the store's error is the inner error and can be had back by downcasting.
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Full { source, .. } | StoreError::Denied { source, .. } | StoreError::Io { source, .. } => {
                source.kind()
            }
            StoreError::Corrupt { .. } => io::ErrorKind::InvalidData,
            StoreError::Missing { .. } => io::ErrorKind::NotFound,
            StoreError::UnstoredOutput { .. } | StoreError::Encoding(_) => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_run_out_of_room_is_a_full_disk() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge] {
            let error = StoreError::while_writing(Path::new("a/b"), 12, io::Error::from(kind));
            assert!(matches!(error, StoreError::Full { wanted: 12, .. }), "{kind}");
            assert!(error.is_transient() && error.to_string().starts_with("no room for 12 bytes at a/b"));
        }
    }

    #[test]
    fn a_refusal_is_not_a_full_disk() {
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
            assert!(matches!(StoreError::io(Path::new("a"), io::Error::from(kind)), StoreError::Denied { .. }));
        }
        let other = io::Error::from(io::ErrorKind::NotADirectory);
        assert!(matches!(StoreError::io(Path::new("a"), other), StoreError::Io { .. }));
    }

    #[test]
    fn the_error_survives_the_detour_through_io() {
        let full = StoreError::while_writing(Path::new("a"), 5, io::Error::from(io::ErrorKind::StorageFull));
        let error = io::Error::from(full);
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(matches!(error.downcast::<StoreError>(), Ok(StoreError::Full { wanted: 5, .. })));
    }

    #[test]
    fn recording_what_was_not_stored_is_a_bug() {
        let action = ActionKey(Digest::of(b"action"));
        let error = StoreError::UnstoredOutput { action, name: "elf".to_owned(), blob: Digest::of(b"elf") };
        assert!(error.is_bug() && !error.is_transient());
    }
}
