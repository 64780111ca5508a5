//! The contract of a remote.

use etbuild_store::{ActionKey, Blob, BlobRef};

use crate::{Job, JobResult, RemoteError};

/// A blob with its digests on a remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteBlob {
    /// The BLAKE3 digest and size, against which downloads are verified.
    pub blob: BlobRef,
    /// The SHA-256 digest of the bytes, for a remote that names blobs so.
    pub sha256: Option<[u8; 32]>,
}

/// The result of an action: blobs by output name, in the order of recording.
pub type Outputs = Vec<(String, RemoteBlob)>;

/// Shared storage of blobs and action results.
///
/// Calls block, and threads may call concurrently. A call returns an error after the last retry.
pub trait Remote: Send + Sync {
    /// Queries the capabilities of the remote, once; each other call does this first.
    ///
    /// # Errors
    /// The remote is unreachable, or speaks another protocol.
    fn greet(&self) -> Result<(), RemoteError>;

    /// Whether blobs must have [`RemoteBlob::sha256`].
    ///
    /// # Errors
    /// As [`Remote::greet`].
    fn wants_sha256(&self) -> Result<bool, RemoteError>;

    /// The subset of `blobs` that the remote lacks.
    ///
    /// # Errors
    /// The remote is unreachable or refuses.
    fn missing(&self, blobs: &[RemoteBlob]) -> Result<Vec<RemoteBlob>, RemoteError>;

    /// Downloads a blob and hands its bytes to `take` in order, in chunks. The bytes are unverified: the caller checks
    /// size and digest.
    ///
    /// # Errors
    /// [`RemoteError::Gone`] if the remote lacks the blob; errors of `take`.
    fn get(&self, blob: &RemoteBlob, take: &mut dyn FnMut(&[u8]) -> Result<(), RemoteError>)
    -> Result<(), RemoteError>;

    /// Downloads small blobs, in the order of `blobs`; `None` for a missing blob. The bytes are unverified.
    ///
    /// # Errors
    /// The remote is unreachable or refuses.
    fn get_small(&self, blobs: &[RemoteBlob]) -> Result<Vec<Option<Vec<u8>>>, RemoteError>;

    /// Uploads blobs. The remote may skip a blob that it has.
    ///
    /// # Errors
    /// The remote is unreachable or refuses.
    fn put(&self, blobs: &[(RemoteBlob, Blob)]) -> Result<(), RemoteError>;

    /// The result of an action; `None` for an unknown action or for a result in another format. The remote may lack
    /// blobs of the result.
    ///
    /// # Errors
    /// The remote is unreachable or refuses.
    fn outputs(&self, action: &ActionKey) -> Result<Option<Outputs>, RemoteError>;

    /// Records the result of an action, after the upload of its blobs.
    ///
    /// # Errors
    /// The remote is unreachable or refuses.
    fn record(&self, action: &ActionKey, outputs: &Outputs) -> Result<(), RemoteError>;

    /// Executes a job on a worker.
    ///
    /// # Errors
    /// The remote is unreachable or has no matching worker. A failed process is not an error.
    fn execute(&self, job: &Job) -> Result<JobResult, RemoteError>;
}
