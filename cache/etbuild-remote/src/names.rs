//! SHA-256 digests of blobs, computed once on a machine.

use etbuild_store::{Blob, Digest, Store};
use sha2::{Digest as _, Sha256};

/// The SHA-256 digest of a blob of `store`, memoized in the store.
pub fn sha256(store: &Store, blob: &Blob) -> [u8; 32] {
    let subject = Digest::of(format!("sha256\0{}", blob.reference().digest).as_bytes());
    if let Some(known) = store.memo_get(&subject).and_then(|bytes| bytes.try_into().ok()) {
        return known;
    }
    let digest = of(blob);
    // A failed write to the memo costs only the time of a second computation.
    let _ = store.memo_put(&subject, &digest);
    digest
}

/// The SHA-256 digest of bytes.
pub fn of(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
