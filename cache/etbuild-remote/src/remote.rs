//! The contract of a remote.

use etbuild_store::{ActionKey, Blob, BlobRef};

use crate::{Job, JobResult, RemoteError};

/// A blob as a remote knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteBlob {
    /// The name that decides: whatever bytes come must have it.
    pub blob: BlobRef,
    /// The SHA-256 digest of the bytes, for a remote that names blobs so.
    pub sha256: Option<[u8; 32]>,
}

/// What an action made: blobs by the names of outputs, in the order in which they were recorded.
pub type Outputs = Vec<(String, RemoteBlob)>;

/// A place that keeps blobs, and which of them an action made, for whoever may reach it.
///
/// Calls block, and may be made from several threads. Each has been tried several times where that may help when it fails.
pub trait Remote: Send + Sync {
    /// Asks the remote what it can do; later calls ask no more. All others begin with it.
    ///
    /// # Errors
    /// It cannot be reached, or speaks another language.
    fn greet(&self) -> Result<(), RemoteError>;

    /// Whether blobs must have [`RemoteBlob::sha256`].
    ///
    /// # Errors
    /// As [`Remote::greet`].
    fn wants_sha256(&self) -> Result<bool, RemoteError>;

    /// Those of `blobs` that the remote lacks.
    ///
    /// # Errors
    /// It was not to be reached, or refused.
    fn missing(&self, blobs: &[RemoteBlob]) -> Result<Vec<RemoteBlob>, RemoteError>;

    /// The bytes of a blob, handed to `take` piece by piece, in order, none twice. They are as the remote gave them: neither
    /// their number nor their digest has been looked at.
    ///
    /// # Errors
    /// [`RemoteError::Gone`] where the remote lacks it; whatever `take` returns.
    fn get(&self, blob: &RemoteBlob, take: &mut dyn FnMut(&[u8]) -> Result<(), RemoteError>)
    -> Result<(), RemoteError>;

    /// The bytes of small blobs, in the order asked for; `None` for one that the remote lacks. Not looked at either.
    ///
    /// # Errors
    /// It was not to be reached, or refused.
    fn get_small(&self, blobs: &[RemoteBlob]) -> Result<Vec<Option<Vec<u8>>>, RemoteError>;

    /// Stores blobs. One that is there already may be left alone.
    ///
    /// # Errors
    /// It was not to be reached, or refused.
    fn put(&self, blobs: &[(RemoteBlob, Blob)]) -> Result<(), RemoteError>;

    /// What an action made; `None` where the remote does not know, or knows it in a form that is none of ours. Whether it has
    /// the blobs is another question.
    ///
    /// # Errors
    /// It was not to be reached, or refused.
    fn outputs(&self, action: &ActionKey) -> Result<Option<Outputs>, RemoteError>;

    /// Records what an action made. The blobs must have been stored.
    ///
    /// # Errors
    /// It was not to be reached, or refused.
    fn record(&self, action: &ActionKey, outputs: &Outputs) -> Result<(), RemoteError>;

    /// Has a worker run a job.
    ///
    /// # Errors
    /// It was not to be reached, or has no worker for it. That the process failed is no error.
    fn execute(&self, job: &Job) -> Result<JobResult, RemoteError>;
}
