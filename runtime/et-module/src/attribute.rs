//! State of a method by name.

use et_core::{Input, Value};
use et_format::{Kind, Tensor, View};

use crate::array::to_array;
use crate::lent::{State, states};
use crate::order;
use crate::{Array, Error, Module};

impl Module {
    /// Copies the state with this name, such as a mutable buffer of the model; `None` for a name that the file does not have.
    pub fn attribute(&self, name: &str) -> Result<Option<Array>, Error> {
        Ok(self.stored(name)?.map(|state| to_array(&state)).transpose()?)
    }

    /// The state with this name; what a device keeps of the state is stored first, and read again by the next execution.
    fn stored(&self, name: &str) -> Result<Option<et_core::Tensor<'static>>, Error> {
        let method = self.loaded.method();
        for (slot, value) in (0..).zip(method.plan().plan().values()?.iter()) {
            let value = value?;
            if value.kind()? != Kind::Tensor {
                continue;
            }
            let tensor = Tensor::of(value.content()?);
            let is_it = tensor.extra()?.is_some_and(|extra| extra.fully_qualified_name() == Ok(name));
            if let (true, Value::Tensor(state)) = (is_it, method.value(slot)?) {
                method.store_state(&state).map_err(|failure| self.loaded.explain(failure))?;
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// Replaces the state with this name, of [`Self::state_names`].
    ///
    /// # Errors
    /// No such state; an array of another type or shape.
    pub fn set_attribute(&mut self, name: &str, array: &Array) -> Result<(), Error> {
        let state = self.stored(name)?.ok_or(et_core::Error::NotFound)?;
        if state.scalar_type() != array.scalar_type || sizes(&state) != array.shape {
            return Err(et_core::Error::InvalidArgument.into());
        }
        state.bytes_mut()?.copy_from(Input::of(&order::from_row_major(&state, &array.bytes)));
        Ok(())
    }

    /// Copies the state with this name from a module of the same program. Of a KV cache, `[1, slots, heads, depth]`, the first `slots` are
    /// copied, if the cache has more; other state is copied as a whole.
    ///
    /// # Errors
    /// No such state; a module of another program.
    pub fn copy_state(&mut self, from: &Self, name: &str, slots: usize) -> Result<(), Error> {
        let source = from.stored(name)?.ok_or(et_core::Error::NotFound)?;
        let target = self.stored(name)?.ok_or(et_core::Error::NotFound)?;
        let sizes = sizes(&source);
        if sizes != self::sizes(&target) || source.nbytes() != target.nbytes() {
            return Err(et_core::Error::InvalidArgument.into());
        }
        let bytes = match sizes[..] {
            [1, all, _, _] if source.is_contiguous() && all > 0 => source.nbytes() / all * slots.min(all),
            _ => source.nbytes(),
        };
        target.bytes_mut()?.window(0, bytes).copy_from(source.bytes()?.window(0, bytes));
        Ok(())
    }

    /// The names of the states of the method that start as zeros, such as the keys of a layer.
    ///
    /// # Errors
    /// A malformed program.
    pub fn state_names(&self) -> Result<Vec<String>, Error> {
        Ok(states(self.loaded.method().plan())?.into_iter().map(|state| state.name.to_owned()).collect())
    }

    /// The sizes of each state of the method that starts as zeros, such as the keys of a layer.
    ///
    /// # Errors
    /// A malformed program.
    pub fn state_sizes(&self) -> Result<Vec<Vec<i32>>, Error> {
        Ok(states(self.loaded.method().plan())?.into_iter().map(|state| state.sizes).collect())
    }

    /// The state with this name in the arena that methods share; `None` for a name that the arena does not have.
    ///
    /// # Errors
    /// A malformed program.
    pub fn state(&self, name: &str) -> Result<Option<State>, Error> {
        let Some(owner) = self.loaded.first_arena() else { return Ok(None) };
        let states = states(self.loaded.method().plan())?;
        let found = states.iter().find(|state| state.name == name && state.place.memory_id == FIRST);
        let cells = found.and_then(|found| owner.range(usize::try_from(found.place.offset).ok()?, found.bytes));
        Ok(cells.map(|cells| State::new(cells, owner)))
    }
}

fn sizes(tensor: &et_core::Tensor<'_>) -> Vec<usize> {
    (0..tensor.rank()).map(|dim| tensor.size(dim)).collect()
}

/// The arena that methods share.
const FIRST: u32 = 1;
