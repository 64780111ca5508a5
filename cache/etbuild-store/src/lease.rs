//! Builds and garbage collection keep out of each other's way.

use std::fs::File;

use crate::file_lock::{self, Mode};
use crate::{Event, Store, StoreError};

/// While any process holds a lease, nothing is removed from the store. Any number may be held at once.
#[derive(Debug)]
pub struct Lease {
    _file: File,
}

impl Store {
    /// Keeps everything in the store until the lease is dropped; waits for a garbage collection that is under way.
    ///
    /// A build holds one from its first look-up to its last materialised output.
    pub fn lease(&self) -> Result<Lease, StoreError> {
        let file = self.lock_collection(Mode::Shared, &Event::WaitingForCollection)?;
        Ok(Lease { _file: file })
    }

    /// Keeps builds out, after those under way have ended. A process that holds a lease itself waits for ever.
    pub(crate) fn keep_builds_out(&self) -> Result<File, StoreError> {
        self.lock_collection(Mode::Exclusive, &Event::WaitingForBuilds)
    }

    fn lock_collection(&self, mode: Mode, waiting: &Event) -> Result<File, StoreError> {
        let path = self.layout().collection_lock();
        let file = file_lock::open(&path)?;
        file_lock::lock(&file, mode, &path, || self.report(waiting))?;
        Ok(file)
    }
}
