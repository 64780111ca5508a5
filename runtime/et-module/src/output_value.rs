//! An output before its elements are copied.

use et_core::{ScalarType, Shape, Value};

use crate::{Array, Constant, Error, Module};

/// An output of the last execution.
#[derive(Clone, Debug)]
pub enum OutputValue {
    /// A tensor of this type and shape, whose elements [`Module::copy_output`] copies.
    Tensor(ScalarType, Shape),
    /// A number, a text or Python's `None`.
    Constant(Constant),
    /// A list of numbers, of rank 1.
    Numbers(Array),
}

impl Module {
    /// Output `index`. A list of tensors is an error.
    pub fn output_value(&self, index: usize) -> Result<OutputValue, Error> {
        let value = self.loaded.output(index)?;
        Ok(match (&value, Constant::of(&value)) {
            (Value::Tensor(tensor), _) => OutputValue::Tensor(tensor.scalar_type(), tensor.shape()),
            (_, Some(constant)) => OutputValue::Constant(constant),
            (_, None) => OutputValue::Numbers(self.output(index)?),
        })
    }
}
