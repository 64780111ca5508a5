//! Sets inputs, and memory of tensors without planned memory.

use et_core::{Error, Input, Result, Storage, Tensor, Value};

use crate::Method;
use crate::load::layout;
use crate::program::dynamic_sizes;

impl<'a> Method<'a> {
    /// Sets input `index` to `value`.
    ///
    /// The elements of a tensor are copied. The tensor must have the method's type and dim order, and a shape within
    /// the bounds. Another value must equal the value of the export.
    pub fn set_input(&self, index: usize, value: &Value<'_>) -> Result<()> {
        match (self.input(index)?, value) {
            (Value::Tensor(target), Value::Tensor(source)) => copy_tensor(&target, source),
            (traced, given) => check_equal(&traced, given),
        }
    }

    /// Copies `bytes` into the memory of input `index`, a tensor that keeps its shape.
    pub fn copy_input(&self, index: usize, bytes: &[u8]) -> Result<()> {
        copy_bytes(&self.input_tensor(index)?, Input::of(bytes))
    }

    /// Uses `source` as input `index` without a copy; the input must have no planned memory.
    pub fn share_input(&self, index: usize, source: Tensor<'a>) -> Result<()> {
        let slot = self.input_slot(index)?;
        self.check_unplanned(slot)?;
        self.check_tensor(slot, &source)?;
        self.slot(slot)?.set(Value::Tensor(source));
        Ok(())
    }

    /// Supplies the memory of input `index`, a tensor without planned memory, for its upper bounds.
    pub fn set_input_memory(&self, index: usize, bytes: &'a mut [u8]) -> Result<()> {
        self.set_memory(self.input_slot(index)?, bytes)
    }

    /// Supplies the memory of output `index`, a tensor without planned memory, for its upper bounds.
    pub fn set_output_memory(&self, index: usize, bytes: &'a mut [u8]) -> Result<()> {
        self.set_memory(self.output_slot(index)?, bytes)
    }

    fn set_memory(&self, slot: i32, bytes: &'a mut [u8]) -> Result<()> {
        self.check_unplanned(slot)?;
        let layout = layout(self.plan.plan.tensor(slot as usize)?)?;
        let memory = Tensor::place(layout, Storage::exclusive(bytes), None)?;
        match self.slot(slot)?.get() {
            Value::Tensor(tensor) => self.slot(slot)?.set(Value::Tensor(tensor.over(&memory)?)),
            _ => return Err(Error::InvalidType),
        }
        Ok(())
    }

    fn check_unplanned(&self, slot: i32) -> Result<()> {
        let tensor = self.plan.plan.tensor(slot as usize)?;
        let planned = tensor.allocation()?.is_some() || tensor.data_buffer_index()? > 0;
        if planned { Err(Error::InvalidState) } else { Ok(()) }
    }

    /// Whether `source` is a tensor that the file allows in this slot.
    fn check_tensor(&self, slot: i32, source: &Tensor<'_>) -> Result<()> {
        let tensor = self.plan.plan.tensor(slot as usize)?;
        if source.scalar_type() != tensor.scalar_type()? || source.dim_order().dims() != tensor.dim_order()? {
            return Err(Error::InvalidType);
        }
        let dynamic = dynamic_sizes(tensor)? > 0;
        let (shape, bounds) = (source.shape(), tensor.sizes()?);
        let fits = |(size, bound): (&i32, i32)| *size == bound || dynamic && *size < bound;
        let fits = bounds.len() == shape.rank() && shape.sizes().iter().zip(bounds.iter()).all(fits);
        if fits { Ok(()) } else { Err(Error::InvalidArgument) }
    }
}

fn copy_tensor(target: &Tensor<'_>, source: &Tensor<'_>) -> Result<()> {
    if source.scalar_type() != target.scalar_type() || source.dim_order() != target.dim_order() {
        return Err(Error::InvalidType);
    }
    target.resize(&source.shape())?;
    copy_bytes(target, source.bytes()?)
}

/// Copies all bytes of a tensor.
pub(crate) fn copy_bytes(target: &Tensor<'_>, source: Input<'_, u8>) -> Result<()> {
    let bytes = target.bytes_mut()?;
    if bytes.len() != source.len() {
        return Err(Error::InvalidArgument);
    }
    bytes.copy_from(source);
    Ok(())
}

fn check_equal(traced: &Value<'_>, given: &Value<'_>) -> Result<()> {
    let equal = match (traced, given) {
        // The exporter records no value for an input that it cannot express, such as text.
        (Value::None, Value::Tensor(_)) => return Err(Error::InvalidType),
        (Value::None, _) => true,
        (Value::Int(traced), Value::Int(given)) => traced == given,
        (Value::Bool(traced), Value::Bool(given)) => traced == given,
        (Value::Double(traced), Value::Double(given)) => traced == given,
        (Value::String(traced), Value::String(given)) => traced == given,
        _ => return Err(Error::InvalidType),
    };
    if equal { Ok(()) } else { Err(Error::InvalidArgument) }
}
