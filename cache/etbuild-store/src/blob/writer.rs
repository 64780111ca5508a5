//! Storing bytes piece by piece.

use std::io::{self, Write};
use std::sync::Arc;

use super::Blob;
use super::map::map;
use crate::scratch::Staged;
use crate::{BlobRef, Hasher, Store, StoreError};

/// Small writes are gathered to this many bytes.
const GATHER: usize = 1 << 18;

/// Pieces from this many bytes on are hashed during the write.
const SIDE_BY_SIDE: usize = 1 << 20;

/// A blob being written. Visible after [`BlobWriter::finish`]; dropping an unfinished writer removes the file.
///
/// As an [`io::Write`], errors carry the [`StoreError`] inside.
#[derive(Debug)]
pub struct BlobWriter<'store> {
    store: &'store Store,
    staged: Staged,
    hasher: Hasher,
    pending: Vec<u8>,
    size: u64,
}

impl Store {
    /// Starts a blob whose bytes come in pieces. At most one piece is in memory.
    pub fn writer(&self) -> Result<BlobWriter<'_>, StoreError> {
        let staged = self.scratch().stage()?;
        Ok(BlobWriter { store: self, staged, hasher: Hasher::default(), pending: Vec::new(), size: 0 })
    }
}

impl BlobWriter<'_> {
    /// Appends `bytes`.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.size += bytes.len() as u64;
        if self.pending.len() + bytes.len() > GATHER {
            self.write_pending()?;
        }
        if bytes.len() > GATHER {
            return self.write_through(bytes);
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// Publishes the blob, over a file of the same name: replacing whole bytes by the same bytes is harmless, and damaged
    /// bytes are healed.
    pub fn finish(mut self) -> Result<BlobRef, StoreError> {
        self.write_pending()?;
        let blob = BlobRef { digest: self.hasher.finish(), size: self.size };
        self.staged.publish_bytes(&self.store.layout().blob(&blob.digest), &blob.digest)?;
        Ok(blob)
    }

    /// The same, and opens the blob: the name is the digest of these bytes, which need no second check.
    pub fn finish_open(mut self) -> Result<Blob, StoreError> {
        self.write_pending()?;
        let reference = BlobRef { digest: self.hasher.finish(), size: self.size };
        let map = self.staged.map(map)?;
        self.staged.publish_bytes(&self.store.layout().blob(&reference.digest), &reference.digest)?;
        Ok(Blob::new(reference, Arc::new(map)))
    }

    /// Publishes the blob if the digest is as expected; otherwise the bytes are dropped with [`StoreError::Corrupt`].
    pub fn finish_as(mut self, expected: &BlobRef) -> Result<(), StoreError> {
        self.write_pending()?;
        if (BlobRef { digest: self.hasher.finish(), size: self.size }) != *expected {
            return Err(StoreError::Corrupt { blob: expected.digest });
        }
        self.staged.publish_bytes(&self.store.layout().blob(&expected.digest), &expected.digest)
    }

    fn write_pending(&mut self) -> Result<(), StoreError> {
        let mut pending = std::mem::take(&mut self.pending);
        self.write_through(&pending)?;
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    fn write_through(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let Self { staged, hasher, .. } = self;
        if bytes.len() < SIDE_BY_SIDE {
            hasher.update(bytes);
            return staged.append(bytes);
        }
        // A separate thread would wait for the pool's threads, which may all wait here for theirs.
        rayon::join(|| staged.append(bytes), || hasher.update(bytes)).0
    }
}

impl Write for BlobWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.write_pending()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_open_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let mut writer = store.writer().unwrap();
        [&b"by"[..], b"tes"].into_iter().for_each(|piece| writer.append(piece).unwrap());
        let blob = writer.finish_open().unwrap();
        assert_eq!((&blob[..], blob.reference()), (&b"bytes"[..], BlobRef::of(b"bytes")));
        assert!(store.contains(&blob.reference()).unwrap());
    }

    #[test]
    fn what_is_not_expected_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let finish = |expected: &BlobRef| {
            let mut writer = store.writer().unwrap();
            writer.append(b"bytes").unwrap();
            writer.finish_as(expected)
        };
        let (other, wanted) = (BlobRef::of(b"other"), BlobRef::of(b"bytes"));
        assert!(matches!(finish(&other), Err(StoreError::Corrupt { blob }) if blob == other.digest));
        assert_eq!([&other, &wanted].map(|blob| store.contains(blob).unwrap()), [false, false]);
        finish(&wanted).unwrap();
        assert!(store.contains(&wanted).unwrap());
    }
}
