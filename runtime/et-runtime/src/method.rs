//! A loaded method.

use core::cell::Cell;

use et_core::{Error, Indices, Kernel, Result, Tensor, Value};

use crate::values::Values;
use crate::{Delegate, MethodPlan};
#[cfg(feature = "device-state")]
use crate::{Failure, Place};

/// A method whose values are in place.
#[derive(Clone, Copy)]
pub struct Method<'a> {
    pub(crate) plan: MethodPlan<'a>,
    pub(crate) kernels: &'a [Kernel],
    pub(crate) delegates: &'a [&'a dyn Delegate<'a>],
    pub(crate) values: Values<'a>,
}

impl<'a> Method<'a> {
    /// The plan of the method in the file.
    pub const fn plan(&self) -> MethodPlan<'a> {
        self.plan
    }

    /// The number of inputs.
    pub fn input_count(&self) -> Result<usize> {
        self.plan.plan.inputs().map(Indices::len)
    }

    /// The number of outputs.
    pub fn output_count(&self) -> Result<usize> {
        self.plan.plan.outputs().map(Indices::len)
    }

    /// Input `index`.
    pub fn input(&self, index: usize) -> Result<Value<'a>> {
        self.slot(self.input_slot(index)?).map(Cell::get)
    }

    /// Output `index` of the last execution.
    pub fn output(&self, index: usize) -> Result<Value<'a>> {
        self.slot(self.output_slot(index)?).map(Cell::get)
    }

    /// The value in a slot of the value table, to which lists refer.
    pub fn value(&self, slot: i32) -> Result<Value<'a>> {
        self.slot(slot).map(Cell::get)
    }

    /// Input `index`, which must be a tensor.
    pub fn input_tensor(&self, index: usize) -> Result<Tensor<'a>> {
        tensor(self.input(index)?)
    }

    /// Output `index`, which must be a tensor.
    pub fn output_tensor(&self, index: usize) -> Result<Tensor<'a>> {
        tensor(self.output(index)?)
    }

    /// Stores the contents of a state in the tensor of the state, where a delegate keeps the contents on a device: before the host
    /// reads the tensor.
    #[cfg(feature = "device-state")]
    pub fn store_state(&self, state: &Tensor<'_>) -> core::result::Result<(), Failure> {
        let mut delegates = (0..).zip(self.delegates);
        delegates.try_for_each(|(index, delegate)| {
            delegate.store_state(state).map_err(|error| Place::Delegate(index).failure(error))
        })
    }

    pub(crate) fn input_slot(&self, index: usize) -> Result<i32> {
        self.plan.plan.inputs()?.get(index).ok_or(Error::NotFound)
    }

    pub(crate) fn output_slot(&self, index: usize) -> Result<i32> {
        self.plan.plan.outputs()?.get(index).ok_or(Error::NotFound)
    }

    pub(crate) fn slot(&self, slot: i32) -> Result<&'a Cell<Value<'a>>> {
        self.values.slot(slot)
    }
}

const fn tensor(value: Value<'_>) -> Result<Tensor<'_>> {
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        _ => Err(Error::InvalidType),
    }
}
