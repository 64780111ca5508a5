//! Gives a method its inputs, and memory for outputs that have none.

use et_core::{Error, Input, Output, Result, Storage, Tensor, TensorLayout, Value};

use crate::Method;

impl<'a> Method<'a> {
    /// Sets input `index`.
    ///
    /// A tensor must have the type and dimension order of the method's, and its shape, or one within the bounds of a
    /// dynamic one. Its elements are copied where the method planned memory for them; else the method reads them where
    /// they are. Any other value must equal the one that the method was exported with.
    pub fn set_input(&self, index: usize, value: &Value<'a>) -> Result<()> {
        match (self.input(index)?, value) {
            (Value::Tensor(target), Value::Tensor(source)) => self.set_tensor(index, target, source),
            (traced, given) => check_equal(&traced, given),
        }
    }

    /// Copies `bytes` into the planned memory of input `index`, a tensor that keeps its shape.
    pub fn copy_input(&self, index: usize, bytes: &[u8]) -> Result<()> {
        copy(&self.input_tensor(index)?, Input::of(bytes))
    }

    /// Gives output `index`, a tensor without planned memory, memory for its upper bounds.
    pub fn set_output_memory(&self, index: usize, bytes: &'a mut [u8]) -> Result<()> {
        let slot = self.plan.plan.outputs()?.get(index).ok_or(Error::NotFound)?;
        let (layout, planned) = self.described(slot)?;
        if planned {
            return Err(Error::InvalidState);
        }
        let memory = Tensor::place(layout, Storage::exclusive(bytes), None)?;
        match self.slot(slot)?.get() {
            Value::Tensor(tensor) => self.slot(slot)?.set(Value::Tensor(tensor.over(&memory)?)),
            _ => return Err(Error::InvalidType),
        }
        Ok(())
    }

    fn set_tensor(&self, index: usize, target: Tensor<'a>, source: &Tensor<'a>) -> Result<()> {
        let slot = self.input_slot(index)?;
        let (layout, planned) = self.described(slot)?;
        if source.scalar_type() != layout.scalar_type || source.dim_order() != target.dim_order() {
            return Err(Error::InvalidType);
        }
        if planned {
            target.resize(&source.shape())?;
            return copy(&target, source.bytes()?);
        }
        self.check_shape(slot, source)?;
        self.slot(slot)?.set(Value::Tensor(*source));
        Ok(())
    }

    /// Whether the shape of `source` is one that the tensor in this slot may have, by the file.
    fn check_shape(&self, slot: i32, source: &Tensor<'_>) -> Result<()> {
        let tensor = self.plan.plan.tensor(slot as usize)?;
        let dynamic = crate::program::dynamic_sizes(tensor)? > 0;
        let shape = source.shape();
        let bounds = tensor.sizes()?;
        let fits = |(size, bound): (&i32, i32)| *size == bound || dynamic && *size < bound;
        if bounds.len() != shape.rank() || !shape.sizes().iter().zip(bounds.iter()).all(fits) {
            return Err(Error::InvalidArgument);
        }
        Ok(())
    }

    /// The layout of the tensor in this slot, and whether the file gives it memory.
    fn described(&self, slot: i32) -> Result<(TensorLayout<'a>, bool)> {
        let tensor = self.plan.plan.tensor(slot as usize)?;
        let planned = tensor.allocation()?.is_some() || tensor.data_buffer_index()? > 0;
        Ok((crate::load::layout(tensor)?, planned))
    }
}

fn copy(target: &Tensor<'_>, source: Input<'_, u8>) -> Result<()> {
    let bytes: Output<'_, u8> = target.bytes_mut()?;
    if bytes.len() != source.len() {
        return Err(Error::InvalidArgument);
    }
    bytes.copy_from(source);
    Ok(())
}

fn check_equal(traced: &Value<'_>, given: &Value<'_>) -> Result<()> {
    let equal = match (traced, given) {
        (Value::None, Value::None) => true,
        (Value::Int(traced), Value::Int(given)) => traced == given,
        (Value::Bool(traced), Value::Bool(given)) => traced == given,
        (Value::Double(traced), Value::Double(given)) => traced == given,
        (Value::String(traced), Value::String(given)) => traced == given,
        _ => return Err(Error::InvalidType),
    };
    if equal { Ok(()) } else { Err(Error::InvalidArgument) }
}
