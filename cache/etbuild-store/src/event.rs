//! Events of the store for an observer. The store never prints.

use std::path::PathBuf;

use crate::{ActionKey, Digest};

/// An event that a user may want to know of, though the store has handled the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A blob is damaged; moved to quarantine.
    BlobQuarantined {
        /// The blob's name, which no longer fits the bytes.
        blob: Digest,
        /// The damage.
        damage: Damage,
        /// The quarantined bytes; `None` when the move failed, or another process had replaced the bytes already.
        quarantine: Option<PathBuf>,
    },
    /// A record was torn or garbled and has been removed.
    RecordDiscarded {
        /// The action of the record's file name.
        action: ActionKey,
    },
    /// The files of a process that died while writing were removed.
    TemporarySwept {
        /// The removed folder.
        folder: PathBuf,
    },
    /// Garbage collection runs in another process; this process waits.
    WaitingForCollection,
    /// Builds are running; garbage collection waits for the builds.
    WaitingForBuilds,
}

/// The difference between a blob and the blob's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Another length, in bytes.
    Size {
        /// The length that was stored.
        expected: u64,
        /// The length of the file.
        found: u64,
    },
    /// Other bytes.
    Content {
        /// The digest of the bytes that were found.
        found: Digest,
    },
}
