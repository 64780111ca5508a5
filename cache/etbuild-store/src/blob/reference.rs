//! The name of a blob.

use serde::{Deserialize, Serialize};

use crate::Digest;

/// A reference to a blob in the store, which stages hand on instead of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlobRef {
    /// The digest of the bytes.
    pub digest: Digest,
    /// The length in bytes.
    pub size: u64,
}

impl BlobRef {
    /// The name that `bytes` have.
    pub fn of(bytes: &[u8]) -> Self {
        Self { digest: Digest::of(bytes), size: bytes.len() as u64 }
    }
}
