//! Memos: facts that are slow to find out, such as the version of a tool. Losing a memo costs time, never correctness.

use std::fs;

use crate::scratch::Durability;
use crate::{Digest, Store, StoreError, sealed};

impl Store {
    /// The fact kept about `subject`; `None` for a missing or untrusted memo.
    pub fn memo_get(&self, subject: &Digest) -> Option<Vec<u8>> {
        let bytes = fs::read(self.layout().memo(subject)).ok()?;
        let (kept, fact): (Digest, Vec<u8>) = sealed::unseal(&bytes).ok()?;
        (kept == *subject).then_some(fact)
    }

    /// Keeps a fact about `subject`: the digest of everything that the fact depends on.
    pub fn memo_put(&self, subject: &Digest, fact: &[u8]) -> Result<(), StoreError> {
        let bytes = sealed::seal(&(subject, fact))?;
        self.scratch().write(&self.layout().memo(subject), &bytes, Durability::Cached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_kept_for_its_subject_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        store.memo_put(&one, b"clang 18").unwrap();
        assert_eq!(store.memo_get(&one).unwrap(), b"clang 18");
        assert_eq!(store.memo_get(&other), None);
        fs::create_dir_all(store.layout().memo(&other).parent().unwrap()).unwrap();
        fs::copy(store.layout().memo(&one), store.layout().memo(&other)).unwrap();
        assert_eq!(store.memo_get(&other), None);
    }
}
