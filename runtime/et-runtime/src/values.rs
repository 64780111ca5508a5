//! The value table of a loaded method.

use core::cell::Cell;

use et_core::{Error, Result, Value};

/// The values of a method; indices are those of the program file.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a>(pub &'a [Cell<Value<'a>>]);

impl<'a> Values<'a> {
    /// The slot with this index.
    pub fn slot(self, slot: i32) -> Result<&'a Cell<Value<'a>>> {
        usize::try_from(slot).ok().and_then(|slot| self.0.get(slot)).ok_or(Error::InvalidProgram)
    }

    /// A condition: a boolean, or a tensor of booleans that must all be true.
    pub fn is_true(self, condition: i32) -> Result<bool> {
        match self.slot(condition)?.get() {
            Value::Bool(value) => Ok(value),
            Value::Tensor(tensor) => Ok(tensor.input::<bool>()?.iter().all(|value| value)),
            _ => Err(Error::InvalidType),
        }
    }

    /// Copies a value; a tensor keeps its memory.
    pub fn copy(self, from: i32, to: i32) -> Result<()> {
        self.slot(to)?.set(self.slot(from)?.get());
        Ok(())
    }

    /// Takes the memory from a tensor.
    pub fn free(self, slot: i32) -> Result<()> {
        let slot = self.slot(slot)?;
        match slot.get() {
            Value::Tensor(tensor) => slot.set(Value::Tensor(tensor.without_data())),
            _ => return Err(Error::InvalidType),
        }
        Ok(())
    }
}
