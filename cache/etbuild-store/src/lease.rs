//! Leases keep builds and garbage collection apart.

use std::fs::File;

use crate::file_lock::{self, Mode};
use crate::{Event, Store, StoreError};

/// While any process holds a lease, no file is removed from the store. Any number of leases may be held at once.
#[derive(Debug)]
pub struct Lease {
    _file: File,
}

impl Store {
    /// Keeps everything in the store until the lease is dropped; waits for a running garbage collection.
    ///
    /// A build holds a lease from the first look-up to the last materialised output.
    pub fn lease(&self) -> Result<Lease, StoreError> {
        let file = self.lock_collection(Mode::Shared, &Event::WaitingForCollection)?;
        Ok(Lease { _file: file })
    }

    /// Keeps builds out, after running builds have ended. A process that holds a lease waits for ever.
    pub(crate) fn keep_builds_out(&self) -> Result<File, StoreError> {
        self.lock_collection(Mode::Exclusive, &Event::WaitingForBuilds)
    }

    /// Keeps builds out; `None` while a build runs.
    pub(crate) fn try_to_keep_builds_out(&self) -> Result<Option<File>, StoreError> {
        let path = self.layout().collection_lock();
        let file = file_lock::open(&path)?;
        Ok(file_lock::try_lock(&file, Mode::Exclusive, &path)?.then_some(file))
    }

    fn lock_collection(&self, mode: Mode, waiting: &Event) -> Result<File, StoreError> {
        let path = self.layout().collection_lock();
        let file = file_lock::open(&path)?;
        file_lock::lock(&file, mode, &path, || self.report(waiting))?;
        Ok(file)
    }
}
