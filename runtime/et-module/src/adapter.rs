//! Adapters that a loaded method exchanges.

use std::path::Path;
use std::rc::Rc;

use crate::{DataFiles, Error, FileBytes, Module};

/// The data file of an adapter, for the methods of a program that was built with an adapter of the same layers and ranks.
#[derive(Clone, Debug)]
pub struct Adapter(Rc<DataFiles>);

impl Adapter {
    /// Maps a data file.
    ///
    /// # Errors
    /// A file that cannot be read; a damaged file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self::of(DataFiles::open(&[path])?))
    }

    /// The adapter in data files.
    pub fn of(files: DataFiles) -> Self {
        Self(Rc::new(files))
    }

    /// The data files.
    pub fn files(&self) -> impl Iterator<Item = &FileBytes> {
        self.0.files()
    }
}

impl Module {
    /// Whether the adapter is the one that was exchanged last.
    pub fn has_adapter(&self, adapter: &Adapter) -> bool {
        self.loaded.has_adapter(&adapter.0)
    }

    /// The number of constants of the method that an adapter has; 0 for a method without an adapter.
    ///
    /// # Errors
    /// [`Error::ExternalTensor`] for an adapter of other layers or ranks.
    pub fn exchangeable(&self, adapter: &Adapter) -> Result<usize, Error> {
        self.loaded.exchangeable(&adapter.0)
    }

    /// Puts an adapter in the place of the one before, from the next execution on. Nothing is loaded again: the adapter's tensors are
    /// used where the data file has them.
    ///
    /// # Errors
    /// As [`Self::exchangeable`]; the adapter before stays.
    pub fn exchange(&mut self, adapter: &Adapter) -> Result<(), Error> {
        self.loaded.exchange(&adapter.0)
    }
}
