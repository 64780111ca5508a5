//! What a remote cache tells its owner. It never prints.

use etbuild_store::{ActionKey, Digest};

/// Something that a person should know of. Each is told once in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The remote is lost; the build goes on without it.
    Lost {
        /// Where it was.
        url: String,
        /// Why.
        reason: String,
    },
    /// The remote gave other bytes than a blob has. They count for nothing.
    Wrong {
        /// Where it is.
        url: String,
        /// The blob.
        blob: Digest,
    },
    /// The remote gave a result that the action did not make. The result counts for nothing.
    Mismatched {
        /// Where it is.
        url: String,
        /// The action.
        action: ActionKey,
    },
    /// The remote runs no jobs; stages run here.
    NotExecuted {
        /// Where it is.
        url: String,
        /// Why.
        reason: String,
    },
    /// The remote does not take what stages made; later builds will run them again.
    NotStored {
        /// Where it is.
        url: String,
        /// Why.
        reason: String,
    },
}
