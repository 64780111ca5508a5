//! Mapped blobs.

use std::fs::File;
use std::ops::{Deref, Range};
use std::sync::Arc;

use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;

use super::condition::Condition;
use super::map::map;
use super::shared::Shared;
use crate::{BlobRef, Store, StoreError};

/// A blob's bytes, mapped from the store. Stays valid when the blob is removed from the store. Clones share the mapping.
#[derive(Clone, Debug)]
pub struct Blob {
    reference: BlobRef,
    map: Arc<Mmap>,
    shared: Option<Arc<Shared>>,
}

impl Blob {
    pub(super) fn new(reference: BlobRef, map: Arc<Mmap>) -> Self {
        Self { reference, map, shared: None }
    }

    /// The same blob, of a file that other owners may write to.
    pub(super) fn watched(self, shared: Option<Arc<Shared>>) -> Self {
        Self { shared, ..self }
    }

    /// Whether other owners may write to the file.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Whether the file was not written to since opening. Only a file that [`Store::share_file`] took can be written to.
    pub fn is_as_opened(&self) -> bool {
        self.shared.as_ref().is_none_or(|shared| shared.is_as_opened())
    }

    /// The blob's name.
    pub fn reference(&self) -> BlobRef {
        self.reference
    }

    /// Frees the memory behind a part of the bytes; the next read maps the part again.
    #[cfg_attr(
        unix,
        allow(unsafe_code, reason = "the advice loses what was written to private memory; this is not written")
    )]
    pub fn release(&self, part: Range<usize>) {
        #[cfg(not(unix))]
        let _ = part;
        #[cfg(unix)]
        if part.start < part.end && part.end <= self.map.len() {
            // SAFETY: the mapping is of a file, shared and never written, so the pages come back unchanged.
            let _ = unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, part.start, part.len()) };
        }
    }

    /// The offset of `part` in the blob; `None` for bytes elsewhere in memory, equal bytes too.
    pub fn offset_of(&self, part: &[u8]) -> Option<u64> {
        let start = part.as_ptr().addr().checked_sub(self.map.as_ptr().addr())?;
        let end = start.checked_add(part.len())?;
        (end <= self.map.len()).then_some(start as u64)
    }
}

impl Deref for Blob {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Store {
    /// The bytes of a blob, after checking the digest.
    ///
    /// Fails with [`StoreError::Missing`] or, for bytes that had to be put aside, [`StoreError::Corrupt`].
    pub fn open_blob(&self, blob: &BlobRef) -> Result<Blob, StoreError> {
        let file = self.sound(blob)?;
        let failed = |error| StoreError::io(&self.layout().blob(&blob.digest), error);
        let (shared, map) = (Shared::watch(&file).map_err(failed)?, map(&file).map_err(failed)?);
        Ok(Blob::new(*blob, Arc::new(map)).watched(shared))
    }

    fn sound(&self, blob: &BlobRef) -> Result<File, StoreError> {
        match self.condition_for_use(blob, u64::MAX)? {
            Condition::Sound(file) => Ok(file),
            Condition::Absent => Err(StoreError::Missing { blob: blob.digest }),
            Condition::Damaged => Err(StoreError::Corrupt { blob: blob.digest }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_outlives_the_blob() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let reference = store.put(b"bytes").unwrap();
        let blob = store.open_blob(&reference).unwrap();
        store.clear().unwrap();
        assert_eq!((&blob[..], blob.reference()), (&b"bytes"[..], reference));
        assert!(matches!(store.open_blob(&reference), Err(StoreError::Missing { .. })));
    }

    #[test]
    fn a_part_has_an_offset_and_equal_bytes_elsewhere_have_none() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let blob = store.open_blob(&store.put(b"bytes").unwrap()).unwrap();
        assert_eq!((blob.offset_of(&blob[1..4]), blob.offset_of(&blob[..])), (Some(1), Some(0)));
        assert_eq!(blob.offset_of(&blob.to_vec()[1..4]), None);
    }

    #[test]
    fn an_empty_blob_opens() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(store.open_blob(&store.put(b"").unwrap()).unwrap().is_empty());
    }
}
