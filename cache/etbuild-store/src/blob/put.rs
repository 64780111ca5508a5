//! Storing bytes that are at hand.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::Condition;
use crate::{BlobRef, Store, StoreError};

/// How much of a file is read at once.
const PIECE: usize = 1 << 20;

impl Store {
    /// Stores `bytes`. What is already there, and whole, is kept; what is there but damaged is replaced.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobRef, StoreError> {
        let blob = BlobRef::of(bytes);
        if !matches!(self.condition_for_use(&blob, u64::MAX)?, Condition::Sound(_)) {
            let mut staged = self.scratch().stage()?;
            staged.append(bytes)?;
            staged.publish(&self.layout().blob(&blob.digest))?;
        }
        Ok(blob)
    }

    /// Stores the contents of a file, a piece at a time.
    pub fn put_file(&self, path: &Path) -> Result<BlobRef, StoreError> {
        let read_error = |error| StoreError::io(path, error);
        let mut file = File::open(path).map_err(read_error)?;
        let mut writer = self.writer()?;
        let mut piece = vec![0; PIECE];
        loop {
            match file.read(&mut piece) {
                Ok(0) => return writer.finish(),
                Ok(length) => writer.append(piece.get(..length).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_error(error)),
            }
        }
    }

    /// Whether the store holds a blob of this name and size. Does not hash it.
    pub fn contains(&self, blob: &BlobRef) -> Result<bool, StoreError> {
        Ok(matches!(self.condition_for_use(blob, 0)?, Condition::Sound(_)))
    }
}
