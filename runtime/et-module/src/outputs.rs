//! The outputs of a method.

use et_core::{Indices, Output, ScalarType, Tensor, Value};

use crate::array::to_array;
use crate::{Array, Error, Module, Named};

/// Outputs by name: `output_0`, `output_1`, ...
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// Tensors, numbers as tensors of rank 0, and lists of numbers as tensors of rank 1.
    pub arrays: Named<Array>,
    /// Texts.
    pub texts: Named<String>,
}

impl Module {
    /// Copies output `index`. A number becomes a tensor of rank 0, a list of numbers a tensor of rank 1.
    pub fn output(&self, index: usize) -> Result<Array, Error> {
        let value = self.loaded.output(index)?;
        self.array(&value)?.ok_or_else(|| Error::Output(format!("output {index} is neither a tensor nor a number")))
    }

    /// Copies the elements of output `index`, a tensor, into `bytes`, in row-major order; returns the number of bytes. An
    /// error where `bytes` is too short.
    pub fn copy_output(&self, index: usize, bytes: &mut [u8]) -> Result<usize, Error> {
        let size = self.tensor(index)?.nbytes();
        let room = bytes.get_mut(..size);
        let room = room.ok_or_else(|| Error::Output(format!("output {index} takes {size} bytes")))?;
        self.copy_output_part(index, 0, room)?;
        Ok(size)
    }

    /// Fills `bytes` with elements of output `index`, a tensor, in row-major order, from byte `start` on. An error where the tensor ends
    /// before.
    pub fn copy_output_part(&self, index: usize, start: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let tensor = self.tensor(index)?;
        let end = start.checked_add(bytes.len()).filter(|end| *end <= tensor.nbytes());
        let end = end.ok_or_else(|| Error::Output(format!("output {index} has {} bytes", tensor.nbytes())))?;
        if tensor.is_contiguous() {
            Output::of(bytes).copy_from(tensor.bytes()?.window(start, end - start));
        } else {
            bytes.copy_from_slice(to_array(&tensor)?.bytes.get(start..end).unwrap_or_default());
        }
        Ok(())
    }

    fn tensor(&self, index: usize) -> Result<Tensor<'_>, Error> {
        match self.loaded.output(index)? {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::Output(format!("output {index} is no tensor"))),
        }
    }

    /// Copies the outputs. The tensors of a list count as separate outputs; an output `None` is left
    /// out together with the output's number.
    pub fn outputs(&self) -> Result<Outputs, Error> {
        let mut outputs = Outputs::default();
        let values = self.shown_outputs()?.map(|index| self.loaded.output(index));
        let mut count = 0;
        for value in values {
            match value? {
                Value::TensorList(slots) | Value::OptionalTensorList(slots) => {
                    self.add_list(slots, &mut count, &mut outputs)?;
                }
                value => self.add(&value, &mut count, &mut outputs)?,
            }
        }
        Ok(outputs)
    }

    fn add_list(&self, slots: Indices<'_>, count: &mut usize, outputs: &mut Outputs) -> Result<(), Error> {
        for slot in slots.iter() {
            let value = if slot == -1 { Value::None } else { self.loaded.method().value(slot)? };
            self.add(&value, count, outputs)?;
        }
        Ok(())
    }

    fn add(&self, value: &Value<'_>, count: &mut usize, outputs: &mut Outputs) -> Result<(), Error> {
        let name = format!("output_{count}");
        *count += 1;
        if let Value::String(text) = value {
            outputs.texts.insert(name, (*text).to_owned());
        } else if let Some(array) = self.array(value)? {
            outputs.arrays.insert(name, array);
        }
        Ok(())
    }

    /// The value as an array, if the value is a tensor, a number or a list of numbers.
    fn array(&self, value: &Value<'_>) -> Result<Option<Array>, Error> {
        let scalar = |scalar_type, bytes: &[u8]| Array { scalar_type, shape: vec![], bytes: bytes.to_vec() };
        let list = |scalar_type, bytes: Vec<u8>, len| Array { scalar_type, shape: vec![len], bytes };
        Ok(Some(match value {
            Value::Tensor(tensor) => to_array(tensor)?,
            Value::Int(value) => scalar(ScalarType::Long, &value.to_le_bytes()),
            Value::Double(value) => scalar(ScalarType::Double, &value.to_le_bytes()),
            Value::Bool(value) => scalar(ScalarType::Bool, &[u8::from(*value)]),
            Value::BoolList(items) => {
                list(ScalarType::Bool, items.iter().map(|byte| u8::from(*byte != 0)).collect(), items.len())
            }
            Value::DoubleList(items) => {
                list(ScalarType::Double, items.iter().flat_map(f64::to_le_bytes).collect(), items.len())
            }
            Value::IntList(slots) => {
                let items: et_core::Result<Vec<[u8; 8]>> = slots.iter().map(|slot| self.int(slot)).collect();
                list(ScalarType::Long, items?.concat(), slots.len())
            }
            Value::None | Value::String(_) | Value::TensorList(_) | Value::OptionalTensorList(_) => return Ok(None),
        }))
    }

    /// The bytes of the integer in a slot of the value table.
    fn int(&self, slot: i64) -> et_core::Result<[u8; 8]> {
        let slot = i32::try_from(slot).map_err(|_| et_core::Error::InvalidProgram)?;
        match self.loaded.method().value(slot)? {
            Value::Int(value) => Ok(value.to_le_bytes()),
            _ => Err(et_core::Error::InvalidType),
        }
    }
}
