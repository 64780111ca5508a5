//! Values of a graph by their names in the archive.

use std::collections::HashMap;

use etbuild_ir::ValueId;

use crate::ImportError;

/// The names defined so far. Accessed by key only: iteration order is random.
#[derive(Default)]
pub struct Scope {
    values: HashMap<String, ValueId>,
}

impl Scope {
    /// Defines a name.
    pub fn define(&mut self, name: &str, id: ValueId) -> Result<(), ImportError> {
        match self.values.insert(name.to_owned(), id) {
            None => Ok(()),
            Some(_) => Err(ImportError::Undefined(name.to_owned())),
        }
    }

    /// The value with this name.
    pub fn find(&self, name: &str) -> Result<ValueId, ImportError> {
        self.values.get(name).copied().ok_or_else(|| ImportError::Undefined(name.to_owned()))
    }
}
