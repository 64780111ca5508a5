//! The store: the folder, and the state that the parts share.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::layout::Layout;
use crate::scratch::{self, Durability, Scratch};
use crate::verified::Verified;
use crate::{Event, Observer, StoreError};

/// The prefix of `CACHEDIR.TAG` (bford.info/cachedir).
const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of etbuild.\n";

/// A content-addressed store in one folder, shared by any number of threads and processes.
pub struct Store {
    layout: Layout,
    observer: Arc<dyn Observer<Event>>,
    scratch: Scratch,
    verified: Verified,
}

impl Store {
    /// The store at `root`, which is made if missing. Sweeps partial files of dead processes.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        Self::open_observed(root, Arc::new(|_: &Event| {}))
    }

    /// The store at `root`, with events for `observer`.
    pub fn open_observed(root: &Path, observer: Arc<dyn Observer<Event>>) -> Result<Self, StoreError> {
        let layout = Layout::new(root);
        let scratch = Scratch::new(&layout.temporary());
        let store = Self { layout, observer, scratch, verified: Verified::default() };
        store.claim_root()?;
        store.sweep();
        Ok(store)
    }

    /// The store's folder.
    pub fn root(&self) -> &Path {
        self.layout.root()
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    pub(crate) fn verified(&self) -> &Verified {
        &self.verified
    }

    pub(crate) fn report(&self, event: &Event) {
        self.observer.observe(event);
    }

    pub(crate) fn sweep(&self) {
        for folder in scratch::sweep(&self.layout.temporary()) {
            self.report(&Event::TemporarySwept { folder });
        }
    }

    fn claim_root(&self) -> Result<(), StoreError> {
        let tag = self.layout.cache_tag();
        if tag.exists() {
            return Ok(());
        }
        self.scratch.write(&tag, CACHE_TAG.as_bytes(), Durability::Cached)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").field("root", &self.root()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Statistics;

    #[test]
    fn a_new_store_is_a_tagged_and_otherwise_empty_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("deep/store");
        drop(Store::open(&root).unwrap());
        assert!(
            fs::read_to_string(root.join("CACHEDIR.TAG")).unwrap().starts_with("Signature: 8a477f597d28d172789f06")
        );
        let store = Store::open(&root).unwrap();
        assert_eq!(store.stat().unwrap(), Statistics::default());
    }

    #[test]
    fn a_file_in_the_way_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        assert!(matches!(Store::open(&path), Err(StoreError::Io { path: at, .. }) if at.starts_with(&path)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_may_not_be_written_is_a_denial() {
        assert!(matches!(Store::open(Path::new("/sys/etbuild")), Err(StoreError::Denied { .. })));
    }
}
