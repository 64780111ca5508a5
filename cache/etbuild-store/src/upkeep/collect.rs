//! Garbage collection: keeping the store within a size and an age.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::walk::{self, Entry};
use crate::{BlobRef, Digest, Store, StoreError};

/// The policy of garbage collection.
#[derive(Clone, Debug)]
pub struct GcPolicy<'a> {
    /// Blobs are removed, the longest unused first, down to this number of bytes; no limit for `None`.
    pub max_bytes: Option<u64>,
    /// Artifacts that have not been used for longer than this are removed; no limit for `None`.
    pub max_age: Option<Duration>,
    /// Blobs that stay at any age and size.
    pub roots: &'a [BlobRef],
    /// Blobs used within this time stay at any limit.
    pub grace: Duration,
}

impl Default for GcPolicy<'_> {
    /// No limit, no roots, an hour of grace: removes only records that have lost their blobs.
    fn default() -> Self {
        Self { max_bytes: None, max_age: None, roots: &[], grace: Duration::from_secs(3600) }
    }
}

/// The result of garbage collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Number of blobs removed.
    pub removed_blobs: u64,
    /// Bytes of the removed blobs.
    pub removed_bytes: u64,
    /// Number of records removed.
    pub removed_records: u64,
    /// Bytes in the blobs that stayed.
    pub kept_bytes: u64,
}

impl Store {
    /// Collects by `policy`, after running builds have ended. The caller must not hold a [`crate::Lease`].
    ///
    /// An interruption leaves records that name removed blobs, which are misses.
    pub fn gc(&self, policy: &GcPolicy<'_>) -> Result<GcReport, StoreError> {
        let _alone = self.keep_builds_out()?;
        self.collect(policy)
    }

    /// Collects by `policy` while builds are kept out.
    pub(super) fn collect(&self, policy: &GcPolicy<'_>) -> Result<GcReport, StoreError> {
        self.sweep();
        let mut report = self.collect_blobs(policy)?;
        report.removed_records = self.collect_records()?;
        self.collect_aged(policy)?;
        self.collect_locks()?;
        Ok(report)
    }

    fn collect_blobs(&self, policy: &GcPolicy<'_>) -> Result<GcReport, StoreError> {
        let blobs = walk::entries(&self.layout().blobs())?;
        let mut report = GcReport { kept_bytes: blobs.iter().map(|blob| blob.size).sum(), ..GcReport::default() };
        for blob in candidates(blobs, policy) {
            let too_many = policy.max_bytes.is_some_and(|limit| report.kept_bytes > limit);
            if too_many || is_older(&blob, policy.max_age) {
                blob.remove()?;
                report.removed_blobs += 1;
                report.removed_bytes += blob.size;
                report.kept_bytes -= blob.size;
            }
        }
        Ok(report)
    }

    /// Removes the records that are of no use any more, and returns their number.
    fn collect_records(&self) -> Result<u64, StoreError> {
        let mut removed = 0;
        for record in walk::entries(&self.layout().records())? {
            removed += u64::from(self.verify_record(&record)?.is_some());
        }
        Ok(removed)
    }

    /// Removes files with an expiry: histories, memos, quarantined blobs.
    fn collect_aged(&self, policy: &GcPolicy<'_>) -> Result<(), StoreError> {
        for folder in [self.layout().histories(), self.layout().memos()] {
            let mut aged = walk::entries(&folder)?;
            aged.retain(|entry| is_older(entry, policy.max_age) && entry.age() > policy.grace);
            aged.iter().try_for_each(Entry::remove)?;
        }
        self.remove_all(walk::children(&self.layout().quarantine())?)
    }

    /// Removes the lock files. No process holds or awaits a lock: such a process holds a lease.
    fn collect_locks(&self) -> Result<(), StoreError> {
        self.remove_all(walk::children(&self.layout().locks())?)
    }

    fn remove_all(&self, paths: Vec<PathBuf>) -> Result<(), StoreError> {
        let remove = |path: &PathBuf| std::fs::remove_file(path).map_err(|error| StoreError::io(path, error));
        paths.iter().try_for_each(remove)
    }
}

/// The blobs that may be removed, the longest unused first.
fn candidates(mut blobs: Vec<Entry>, policy: &GcPolicy<'_>) -> Vec<Entry> {
    let roots: BTreeSet<Digest> = policy.roots.iter().map(|root| root.digest).collect();
    blobs.retain(|blob| !roots.contains(&blob.digest) && blob.age() >= policy.grace);
    blobs.sort_by_key(|blob| (blob.used, blob.digest));
    blobs
}

fn is_older(entry: &Entry, limit: Option<Duration>) -> bool {
    limit.is_some_and(|limit| entry.age() > limit)
}
