//! Collection without a request: at most once a day, and only while no build runs.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::collect::{GcPolicy, GcReport};
use crate::{BlobRef, Store, StoreError};

/// The time between two checks of the size.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

impl Store {
    /// Collects down to `max_bytes`, the longest unused blobs first, and leaves `roots` and blobs of the last hour.
    ///
    /// Returns `None` without a collection: the last check is less than a day ago, the store is within the limit, or a build
    /// runs. The caller must not hold a [`crate::Lease`].
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn gc_if_due(
        &self,
        max_bytes: u64,
        roots: impl FnOnce() -> Result<Vec<BlobRef>, StoreError>,
    ) -> Result<Option<GcReport>, StoreError> {
        if !is_due(&self.layout().checked())? || self.stat()?.bytes <= max_bytes {
            return Ok(None);
        }
        let roots = roots()?;
        let Some(_alone) = self.try_to_keep_builds_out()? else { return Ok(None) };
        let policy = GcPolicy { max_bytes: Some(max_bytes), roots: &roots, ..GcPolicy::default() };
        self.collect(&policy).map(Some)
    }
}

/// Whether the last check is a day ago; a check that is due is noted as made. A new store is not due.
fn is_due(mark: &Path) -> Result<bool, StoreError> {
    let last = match fs::metadata(mark) {
        Ok(metadata) => metadata.modified().ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(SystemTime::now()),
        Err(error) => return Err(StoreError::io(mark, error)),
    };
    // A mark from the future must not put checks off.
    let is_recent = last.and_then(|last| last.elapsed().ok()).is_some_and(|age| age < INTERVAL);
    if !is_recent || !mark.exists() {
        let note = || File::create(mark)?.set_modified(SystemTime::now());
        note().map_err(|error| StoreError::io(mark, error))?;
    }
    Ok(!is_recent)
}
