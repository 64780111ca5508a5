//! Failures that may be gone at the next try: a missing tool, a full disk, a blob lost between look-up and use.
//!
//! The failures unwind through the queries, so that salsa remembers no result, and are caught where a deploy of one target
//! begins.

use std::panic;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::StoreError;

/// A failure that must not be remembered.
#[derive(Debug)]
pub enum Transient {
    /// A part of the machine is missing or broken.
    Environment(Box<Diagnostic>),
    /// A blob of a record is gone or was damaged; the blob can be derived again.
    BlobLost,
    /// A user has interrupted the command.
    Interrupted,
    /// A query on another thread that this query waited for was interrupted.
    Elsewhere,
}

impl Transient {
    /// Whether trying again from the beginning can help at once.
    pub const fn is_worth_a_retry(&self) -> bool {
        matches!(self, Self::BlobLost | Self::Elsewhere)
    }
}

impl From<Transient> for Diagnostic {
    fn from(transient: Transient) -> Self {
        match transient {
            Transient::Environment(diagnostic) => *diagnostic,
            Transient::Interrupted => Self::error(Code::Interrupted, "interrupted")
                .help("what has been built is kept: the same command goes on from there"),
            Transient::BlobLost | Transient::Elsewhere => {
                let message = "an artifact disappeared from the cache while it was used, twice";
                Self::error(Code::StoreCorrupt, message).help("check the disk, and run `etbuild cache verify`")
            }
        }
    }
}

impl From<StoreError> for Transient {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::Full { .. } => Code::DiskFull,
            StoreError::Missing { .. } | StoreError::Corrupt { .. } => return Self::BlobLost,
            _ => Code::StoreUnavailable,
        };
        let diagnostic = Diagnostic::error(code, error.to_string());
        Self::Environment(Box::new(match code {
            Code::DiskFull => diagnostic.help(
                "free some space, run `etbuild cache gc --max-size 1GiB`, or set ETBUILD_CACHE_DIR to another disk",
            ),
            _ => diagnostic.help("set ETBUILD_CACHE_DIR to a writable folder"),
        }))
    }
}

/// Ends the current query and all waiting queries, without a panic message.
pub fn interrupt(transient: impl Into<Transient>) -> ! {
    panic::resume_unwind(Box::new(transient.into()))
}
