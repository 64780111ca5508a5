//! The last key of each slot, so that `explain` can name the change.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::scratch::Durability;
use crate::{Component, Key, Store, StoreError, sealed};

/// The last key of one slot.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Remembered {
    slot: String,
    components: Vec<Component>,
}

impl Store {
    /// Notes that `slot` (as `digits/mps2-an505/link`) now has this key. Writes only a changed key.
    pub fn remember(&self, slot: &str, key: &Key) -> Result<(), StoreError> {
        if self.last(slot).is_some_and(|components| components == key.components()) {
            return Ok(());
        }
        let bytes = sealed::seal(&Remembered { slot: slot.to_owned(), components: key.components().to_vec() })?;
        self.scratch().write(&self.layout().history(slot), &bytes, Durability::Cached)
    }

    /// The last key of `slot`; `None` where unknown.
    pub fn last(&self, slot: &str) -> Option<Vec<Component>> {
        let bytes = fs::read(self.layout().history(slot)).ok()?;
        let remembered: Remembered = sealed::unseal(&bytes).ok()?;
        (remembered.slot == slot).then_some(remembered.components)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, KeyBuilder, Value};

    fn key(flash: u32) -> Key {
        let list = Value::from(vec![Some(1.5), None]);
        KeyBuilder::new("link", 1).fact("flash", flash).option("list", list).input("pte", Digest::of(b"pte")).finish()
    }

    #[test]
    fn each_slot_has_its_last_key() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.last("digits/host/link"), None);
        store.remember("digits/host/link", &key(1)).unwrap();
        store.remember("digits/host/link", &key(2)).unwrap();
        store.remember("digits/../../board", &key(3)).unwrap();
        assert_eq!(store.last("digits/host/link").unwrap(), key(2).components());
        let difference = key(4).first_difference(&store.last("digits/../../board").unwrap()).unwrap();
        assert_eq!(difference.to_string(), "fact flash: 3 -> 4");
    }

    #[test]
    fn a_garbled_history_is_no_history() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.scratch().write(&store.layout().history("slot"), b"garbage", Durability::Cached).unwrap();
        assert_eq!(store.last("slot"), None);
        store.remember("slot", &key(1)).unwrap();
        assert_eq!(store.last("slot").unwrap(), key(1).components());
    }
}
