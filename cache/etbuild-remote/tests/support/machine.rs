//! A simulated machine: a store with a remote cache.
#![allow(dead_code, reason = "each test file uses a part")]

use std::sync::{Arc, Mutex};

use etbuild_remote::{Access, Event, Execution, Options, RemoteCache};
use etbuild_store::{ActionKey, BlobRef, Digest, Store};
use tempfile::TempDir;

/// A machine: a store, its remote cache, and the reported events.
pub struct Machine {
    pub store: Arc<Store>,
    pub cache: RemoteCache,
    told: Arc<Mutex<Vec<Event>>>,
    _folder: TempDir,
}

impl Machine {
    /// With an empty store.
    pub fn new(url: &str, access: Access) -> Self {
        Self::with(&Options { access, ..Options::new(url) })
    }

    /// The same, and jobs are sent to workers.
    pub fn with_workers(url: &str, execution: Execution) -> Self {
        Self::with(&Options { execution: Some(execution), ..Options::new(url) })
    }

    /// A machine with an empty store and these options.
    pub fn with(options: &Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(folder.path()).unwrap());
        let told = Arc::new(Mutex::new(Vec::new()));
        let listener = told.clone();
        let observer = move |event: &Event| listener.lock().unwrap().push(event.clone());
        let cache = RemoteCache::open(options, store.clone(), Arc::new(observer)).unwrap();
        Self { store, cache, told, _folder: folder }
    }

    /// The events so far.
    pub fn told(&self) -> Vec<Event> {
        self.told.lock().unwrap().clone()
    }

    /// Stores blobs of these sizes as the result of an action, and uploads the result.
    pub fn make(&self, action: &ActionKey, sizes: &[usize]) -> Vec<(String, BlobRef)> {
        let put = |size: &usize| ("part".to_owned(), self.store.put(&bytes(*size)).unwrap());
        let outputs: Vec<_> = sizes.iter().map(put).collect();
        self.cache.publish(action, &outputs);
        self.cache.finish();
        outputs
    }
}

/// Deterministic bytes that depend on the size.
pub fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|index| (index * 31 + index / 251 + size) as u8).collect()
}

/// An action.
pub fn action(name: &str) -> ActionKey {
    ActionKey(Digest::of(name.as_bytes()))
}
