//! What can go wrong with a remote.

use etbuild_store::{ActionKey, Digest, StoreError};

/// Why a remote did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// It cannot be reached, does not answer, or broke off, after all attempts.
    #[error("{0}")]
    Lost(String),
    /// It answers, and refuses: no permission, a request it does not understand, no room.
    #[error("{0}")]
    Refused(String),
    /// It lacks a blob that it said it had.
    #[error("it lacks blob {0}")]
    Gone(Digest),
    /// It gave other bytes than a blob has.
    #[error("it gave wrong bytes for blob {0}")]
    Wrong(Digest),
    /// It gave a result that the action did not make.
    #[error("its result for action {0} is another action's, or incomplete")]
    Mismatched(ActionKey),
    /// The local store did not take what it gave, or lacks what was to be sent.
    #[error(transparent)]
    Store(#[from] StoreError),
}
