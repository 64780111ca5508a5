//! Storing bytes that are at hand.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::{Blob, Condition, mapped};
use crate::{BlobRef, Digest, Store, StoreError};

impl Store {
    /// Stores `bytes`. A whole blob of the same name is kept; a damaged blob is replaced.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobRef, StoreError> {
        let blob = BlobRef::of(bytes);
        self.put_named(&blob, bytes)?;
        Ok(blob)
    }

    /// Stores `bytes` under a name that the caller has computed already. A wrong name is found, as
    /// damage is, when the blob is opened.
    pub fn put_named(&self, blob: &BlobRef, bytes: &[u8]) -> Result<(), StoreError> {
        if !matches!(self.condition_for_use(blob, u64::MAX)?, Condition::Sound(_)) {
            let mut staged = self.scratch().stage()?;
            staged.append(bytes)?;
            staged.publish(&self.layout().blob(&blob.digest))?;
        }
        Ok(())
    }

    /// Stores the contents of a file, which the system copies, and opens the copy: the name is the digest of the written
    /// bytes, which need no second check.
    pub fn put_file(&self, path: &Path) -> Result<Blob, StoreError> {
        let mut file = File::open(path).map_err(|error| StoreError::io(path, error))?;
        let mut staged = self.scratch().stage()?;
        staged.append_file(&mut file, path)?;
        let map = staged.map(mapped::map)?;
        let reference = BlobRef { digest: Digest::of(&map), size: map.len() as u64 };
        staged.publish(&self.layout().blob(&reference.digest))?;
        let blob = Blob::new(reference, Arc::new(map));
        blob.release(0..blob.len());
        Ok(blob)
    }

    /// Whether the store holds a blob of this name and size. Does not hash the blob.
    pub fn contains(&self, blob: &BlobRef) -> Result<bool, StoreError> {
        Ok(matches!(self.condition_for_use(blob, 0)?, Condition::Sound(_)))
    }
}
