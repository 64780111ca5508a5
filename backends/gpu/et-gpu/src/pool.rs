//! Values that several owners share while at least one of the owners lives.

use core::hash::Hash;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Live values by their keys.
pub struct Pool<K, V>(Mutex<HashMap<K, Weak<V>>>);

impl<K, V> Default for Pool<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> Pool<K, V> {
    /// The live value of a key, or a new value. The lock is held meanwhile, so that threads make a value once.
    pub fn get_or_make<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        let mut values = self.lock();
        if let Some(value) = values.get(&key).and_then(Weak::upgrade) {
            return Ok(value);
        }
        let value = Arc::new(make()?);
        insert(&mut values, key, &value);
        Ok(value)
    }

    /// The live value of a key.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        self.lock().get(key).and_then(Weak::upgrade)
    }

    /// Adds a value; of equal keys, the last value stays.
    pub fn insert(&self, key: K, value: &Arc<V>) {
        insert(&mut self.lock(), key, value);
    }

    /// The number of live values.
    #[cfg(any(test, feature = "faults"))]
    pub fn live(&self) -> usize {
        self.lock().values().filter(|value| value.strong_count() > 0).count()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Weak<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a value and removes the keys of dead values.
fn insert<K: Eq + Hash, V>(values: &mut HashMap<K, Weak<V>>, key: K, value: &Arc<V>) {
    values.retain(|_, value| value.strong_count() > 0);
    values.insert(key, Arc::downgrade(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_share_a_live_value() {
        let pool = Pool::default();
        let make = |value: u32| move || Ok::<_, ()>(value);
        let first = pool.get_or_make("key", make(1)).unwrap();
        assert_eq!(*pool.get_or_make("key", make(2)).unwrap(), 1);
        assert_eq!((pool.get(&"key"), pool.get(&"other"), pool.live()), (Some(Arc::clone(&first)), None, 1));
        drop(first);
        assert_eq!((pool.get(&"key"), pool.live()), (None, 0));
        assert!(pool.get_or_make("key", || Err(())).is_err());
        assert_eq!(*pool.get_or_make("key", make(3)).unwrap(), 3);
    }

    #[test]
    fn the_last_value_of_a_key_stays() {
        let (pool, first, last) = (Pool::default(), Arc::new(1), Arc::new(2));
        pool.insert("key", &first);
        pool.insert("key", &last);
        assert_eq!((pool.get(&"key"), pool.live()), (Some(last), 1));
    }
}
