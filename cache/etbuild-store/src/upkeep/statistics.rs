//! Statistics of the store.

use super::walk;
use crate::{Store, StoreError};

/// How much the store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of blobs.
    pub blobs: u64,
    /// Bytes of the blobs.
    pub bytes: u64,
    /// Number of recorded actions.
    pub records: u64,
    /// Number of damaged blobs that were put aside.
    pub quarantined: u64,
    /// Number of processes that are writing, or died while writing.
    pub temporary: u64,
}

impl Store {
    /// Counts the content of the store. Other processes may change the store meanwhile.
    pub fn stat(&self) -> Result<Statistics, StoreError> {
        let blobs = walk::entries(&self.layout().blobs())?;
        Ok(Statistics {
            blobs: blobs.len() as u64,
            bytes: blobs.iter().map(|blob| blob.size).sum(),
            records: walk::entries(&self.layout().records())?.len() as u64,
            quarantined: walk::children(&self.layout().quarantine())?.len() as u64,
            temporary: walk::children(&self.layout().temporary())?.len() as u64,
        })
    }
}
