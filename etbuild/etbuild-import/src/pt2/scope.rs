//! Which value of the graph a name of the archive means.

use std::collections::HashMap;

use etbuild_ir::ValueId;

use crate::ImportError;

/// Names that have been defined so far. Only ever asked for one name.
#[derive(Default)]
pub struct Scope {
    values: HashMap<String, ValueId>,
}

impl Scope {
    /// Gives a name its value.
    pub fn define(&mut self, name: &str, id: ValueId) -> Result<(), ImportError> {
        match self.values.insert(name.to_owned(), id) {
            None => Ok(()),
            Some(_) => Err(ImportError::Undefined(name.to_owned())),
        }
    }

    /// The value that a name means.
    pub fn find(&self, name: &str) -> Result<ValueId, ImportError> {
        self.values.get(name).copied().ok_or_else(|| ImportError::Undefined(name.to_owned()))
    }
}
