//! The blobs that have been hashed and found whole, so that no blob is hashed twice.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::Digest;

/// A file that changed more recently than this may change again without a change of the times: file systems keep time in
/// steps of some milliseconds.
const SETTLED: Duration = Duration::from_millis(100);

/// The stamp of a version of a file. A file that was written to since has another stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    size: u64,
    changed: Option<Duration>,
    inode: u64,
}

impl Stamp {
    pub fn of(metadata: &Metadata) -> Self {
        Self { size: metadata.len(), changed: changed(metadata), inode: inode(metadata) }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.changed.is_some_and(|changed| changed + SETTLED < now)
    }
}

/// The blobs that this process has hashed and found whole.
#[derive(Debug, Default)]
pub(crate) struct Verified(Mutex<BTreeMap<Digest, Stamp>>);

impl Verified {
    pub fn contains(&self, digest: &Digest, stamp: &Stamp) -> bool {
        self.stamps().get(digest) == Some(stamp)
    }

    /// Forgets all blobs, so that every blob is hashed again.
    pub fn clear(&self) {
        self.stamps().clear();
    }

    pub fn remember(&self, digest: Digest, stamp: Stamp) {
        if stamp.is_settled() {
            self.stamps().insert(digest, stamp);
        }
    }

    fn stamps(&self) -> MutexGuard<'_, BTreeMap<Digest, Stamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<Duration> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    Some(Duration::new(seconds, u32::try_from(metadata.ctime_nsec()).ok()?))
}

#[cfg(not(unix))]
fn changed(metadata: &Metadata) -> Option<Duration> {
    metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_metadata: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(age: Duration) -> Stamp {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        Stamp { size: 3, changed: Some(now - age), inode: 7 }
    }

    #[test]
    fn a_settled_file_is_remembered_until_its_stamp_changes() {
        let (verified, digest, before) = (Verified::default(), Digest::of(b"abc"), stamp(Duration::from_secs(5)));
        verified.remember(digest, before);
        assert!(verified.contains(&digest, &before));
        assert!(!verified.contains(&digest, &Stamp { inode: 8, ..before }));
        assert!(!verified.contains(&digest, &stamp(Duration::from_secs(4))));
        assert!(!verified.contains(&Digest::of(b"other"), &before));
    }

    #[test]
    fn a_file_that_changed_just_now_is_hashed_again() {
        let (verified, digest, fresh) = (Verified::default(), Digest::of(b"abc"), stamp(Duration::ZERO));
        verified.remember(digest, fresh);
        assert!(!verified.contains(&digest, &fresh));
    }
}
