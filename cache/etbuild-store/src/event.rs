//! What the store tells its owner while it works. It never prints.

use std::path::PathBuf;

use crate::{ActionKey, Digest};

/// Something that a person may want to hear of, though the store has dealt with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A blob was damaged and has been put aside.
    BlobQuarantined {
        /// The blob's name, which its bytes no longer deserve.
        blob: Digest,
        /// What was wrong.
        damage: Damage,
        /// Where the bytes are now; `None` when they could not be moved, or another process had replaced them already.
        quarantine: Option<PathBuf>,
    },
    /// A record was torn or garbled and has been removed.
    RecordDiscarded {
        /// The action that it was filed under.
        action: ActionKey,
    },
    /// The files of a process that died while writing were removed.
    TemporarySwept {
        /// The folder that held them.
        folder: PathBuf,
    },
    /// Garbage collection runs in another process; this one waits for it to end.
    WaitingForCollection,
    /// Builds are running; garbage collection waits for them to end.
    WaitingForBuilds,
}

/// How a blob differs from what its name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It has another length, in bytes.
    Size {
        /// The length that was stored.
        expected: u64,
        /// The length of the file.
        found: u64,
    },
    /// It has other bytes.
    Content {
        /// The digest of the bytes that were found.
        found: Digest,
    },
}
