//! Storing bytes that are at hand.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use super::map::map;
use super::shared::Shared;
use super::{Blob, Condition};
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
            staged.publish_bytes(&self.layout().blob(&blob.digest), &blob.digest)?;
        }
        Ok(())
    }

    /// Stores the contents of a file, which the system copies, and opens the copy: the name is the digest of the written
    /// bytes, which need no second check.
    pub fn put_file(&self, path: &Path) -> Result<Blob, StoreError> {
        let mut file = File::open(path).map_err(|error| StoreError::io(path, error))?;
        let mut staged = self.scratch().stage()?;
        staged.append_file(&mut file, path)?;
        let map = staged.map(map)?;
        let reference = BlobRef { digest: Digest::of(&map), size: map.len() as u64 };
        staged.publish_bytes(&self.layout().blob(&reference.digest), &reference.digest)?;
        let blob = Blob::new(reference, Arc::new(map));
        blob.release(0..blob.len());
        Ok(blob)
    }

    /// Whether the store holds a blob of this name and size. Does not hash the blob.
    pub fn contains(&self, blob: &BlobRef) -> Result<bool, StoreError> {
        Ok(matches!(self.condition_for_use(blob, 0)?, Condition::Sound(_)))
    }

    /// Stores the contents of a file as [`Store::put_file`] does, but gives the file a second name where the system allows that,
    /// instead of copying the file. Removing either name leaves the other name; a write to the file changes the bytes for the blob's
    /// readers, so [`Blob::is_as_opened`] is asked before results count.
    pub fn share_file(&self, path: &Path) -> Result<Blob, StoreError> {
        match self.shared(path)? {
            Some(blob) => Ok(blob),
            None => self.put_file(path),
        }
    }

    /// `None` where the file cannot have another name here, or is being written.
    fn shared(&self, path: &Path) -> Result<Option<Blob>, StoreError> {
        let failed = |error| StoreError::io(path, error);
        let Some(staged) = self.scratch().stage_name_of(&fs::canonicalize(path).map_err(failed)?)? else {
            return Ok(None);
        };
        let Some(shared) = staged.map(Shared::watch)? else { return Ok(None) };
        let map = staged.map(map)?;
        let reference = BlobRef { digest: Digest::of(&map), size: map.len() as u64 };
        if !shared.is_as_opened() {
            return Ok(None);
        }
        staged.publish_name(&self.layout().blob(&reference.digest))?;
        let blob = Blob::new(reference, Arc::new(map)).watched(Some(shared));
        blob.release(0..blob.len());
        Ok(Some(blob))
    }
}
