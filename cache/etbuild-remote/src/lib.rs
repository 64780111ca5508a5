//! The remote cache of a team: action results and blobs on a server, and remote execution.
//!
//! A [`Remote`] stores blobs and, for each action, the list of its output blobs. `reapi` is the client of servers of
//! the Remote Execution API. [`RemoteCache`] is the interface for a build: it downloads blobs that the local store
//! lacks, verifies their digests, uploads action results, and continues without the remote after a failure. On a server
//! with workers, a stage can run its processes remotely: a [`Job`].
//!
//! A blob has the same BLAKE3 digest as in the local store. A server that uses SHA-256 gets both digests, and each
//! download is hashed again: the client trusts no digest of a server.

mod cache;
mod error;
mod event;
mod fetch;
#[cfg(feature = "reapi")]
mod helper;
mod job;
#[cfg(feature = "reapi")]
mod location;
mod names;
#[cfg(feature = "object-stores")]
mod objects;
mod options;
#[cfg(feature = "reapi")]
mod reapi;
mod remote;
#[cfg(feature = "reapi")]
mod retry;
mod seal;
mod standing;
mod upload;

pub use cache::{Found, RemoteCache};
pub use error::RemoteError;
pub use event::Event;
pub use job::{Execution, Job, JobResult};
pub use options::{Access, Options, OptionsError, Tls};
pub use remote::{Outputs, Remote, RemoteBlob};
