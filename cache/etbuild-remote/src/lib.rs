//! What a team shares: what stages made, on a server.
//!
//! A [`Remote`] holds blobs and, for each action, which blobs it made. `reapi` speaks to servers of the Remote Execution
//! API. [`RemoteCache`] is what a build uses: it asks a remote for what the local store lacks, stores what it gives after
//! hashing it, hands it what stages made, and does without it once it is lost. Where the server has workers they may run what
//! stages would have started here: a [`Job`].
//!
//! A blob is known by its BLAKE3 digest here as in the local store. A server that knows blobs by SHA-256 is given both, and
//! what it gives back is hashed again: nothing that a server says about bytes is taken for granted.

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
