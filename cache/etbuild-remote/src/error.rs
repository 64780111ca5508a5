//! Errors of remotes.

use etbuild_store::{ActionKey, Digest, StoreError};

/// The failure of a request to a remote.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The remote is unreachable, does not answer, or breaks off, after all attempts.
    #[error("{0}")]
    Lost(String),
    /// The remote answers and refuses the request: no permission, unknown request, no space.
    #[error("{0}")]
    Refused(String),
    /// The remote lacks a blob that it listed.
    #[error("blob {0} is missing on the server")]
    Gone(Digest),
    /// The remote sent bytes with another digest than the blob.
    #[error("the server sent bytes with a wrong digest for blob {0}")]
    Wrong(Digest),
    /// The remote sent a result of another action.
    #[error("the server sent an incomplete result, or another action's result, for action {0}")]
    Mismatched(ActionKey),
    /// The local store failed to write a downloaded blob, or lacks a blob for an upload.
    #[error(transparent)]
    Store(#[from] StoreError),
}
