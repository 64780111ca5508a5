//! Events that a remote cache reports to its owner. The remote cache never prints.

use etbuild_store::{ActionKey, Digest};

/// An event for the user. Each kind is reported once per session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The remote is unreachable; the build continues without the remote, or fails.
    Lost {
        /// The remote's URL.
        url: String,
        /// The reason.
        reason: String,
        /// Whether the build requires the remote.
        fails: bool,
    },
    /// The remote sent bytes with another digest than the blob. The bytes are discarded.
    Wrong {
        /// The remote's URL.
        url: String,
        /// The blob.
        blob: Digest,
    },
    /// The remote sent a result of another action. The result is discarded.
    Mismatched {
        /// The remote's URL.
        url: String,
        /// The action.
        action: ActionKey,
    },
    /// The remote executes no jobs; stages run locally.
    NotExecuted {
        /// The remote's URL.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The remote rejects uploads; later builds run these stages again.
    NotStored {
        /// The remote's URL.
        url: String,
        /// The reason.
        reason: String,
    },
}
