//! Safe constructors of tensors over borrowed memory.
#![allow(unsafe_code)] // Hands a borrow's pointer to the tensor, which lives no longer than the borrow.

use core::cell::Cell;

use crate::{Access, Error, Result, Tensor, TensorLayout};

/// The memory of a tensor's elements.
#[derive(Clone, Copy, Debug)]
pub enum Storage<'a> {
    /// No memory yet.
    Missing,
    /// Bytes that never change.
    Constant(&'a [u8]),
    /// Bytes that several tensors may read and write in turn.
    Shared(&'a [Cell<u8>]),
}

impl<'a> Storage<'a> {
    /// Exclusively borrowed bytes, to be shared among tensors.
    pub fn exclusive(bytes: &'a mut [u8]) -> Self {
        Self::Shared(Cell::from_mut(bytes).as_slice_of_cells())
    }

    const fn access(self) -> Access {
        match self {
            Self::Constant(_) => Access::Constant,
            Self::Missing | Self::Shared(_) => Access::Writable,
        }
    }

    /// The start of the memory, if the memory holds `wanted` bytes.
    fn start(self, wanted: usize) -> Result<*mut u8> {
        let (start, len) = match self {
            Self::Missing => return Ok(core::ptr::null_mut()),
            Self::Constant(bytes) => (bytes.as_ptr().cast_mut(), bytes.len()),
            Self::Shared(cells) => (cells.as_ptr().cast::<u8>().cast_mut(), cells.len()),
        };
        if wanted <= len { Ok(start) } else { Err(Error::AccessFailed) }
    }
}

impl<'a> Tensor<'a> {
    /// A tensor over the first bytes of `storage`. With `bounds`, of length 2 x rank, the shape is dynamic.
    pub fn place(layout: TensorLayout<'a>, storage: Storage<'a>, bounds: Option<&'a mut [i32]>) -> Result<Self> {
        // SAFETY: null is allowed.
        let mut tensor = unsafe { Self::new(layout, core::ptr::null_mut(), storage.access())? };
        if let Some(bounds) = bounds {
            tensor = tensor.with_bounds(Cell::from_mut(bounds).as_slice_of_cells())?;
        }
        let start = storage.start(tensor.capacity())?;
        // SAFETY: `capacity` bytes from `start` are borrowed for `'a`. Constant bytes are never written; other bytes
        // are cells without a plain reference, which no other thread can access.
        Ok(unsafe { tensor.with_data(start) })
    }

    /// This tensor's type and shape over the memory of `other`, which must hold the upper bounds of the shape.
    pub fn over(self, other: &Self) -> Result<Self> {
        if self.capacity() > other.capacity() {
            return Err(Error::AccessFailed);
        }
        // SAFETY: `other` has at least the required bytes for `'a`, and the new tensor copies the access of `other`.
        Ok(unsafe { self.with_data(other.data()).with_access(other.access()) })
    }

    /// The same tensor without memory.
    #[must_use]
    pub const fn without_data(self) -> Self {
        // SAFETY: null is allowed.
        unsafe { self.with_data(core::ptr::null_mut()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Indices, ScalarType, Shape};

    const TWO: [u8; 4] = [2, 0, 0, 0];

    const fn layout() -> TensorLayout<'static> {
        TensorLayout { scalar_type: ScalarType::Short, sizes: Indices::new(&TWO), dim_order: &[0] }
    }

    #[test]
    fn too_little_memory_is_refused() {
        assert!(Tensor::place(layout(), Storage::Constant(&[0; 4]), None).is_ok());
        assert_eq!(Tensor::place(layout(), Storage::Constant(&[0; 3]), None).err(), Some(Error::AccessFailed));
    }

    #[test]
    fn shared_bytes_are_written_and_constants_are_not() {
        let mut bytes = [0; 4];
        let tensor = Tensor::place(layout(), Storage::exclusive(&mut bytes), None).unwrap();
        tensor.output::<i16>().unwrap().set(1, 513);
        assert_eq!(bytes, [0, 0, 1, 2]);
        let constant = Tensor::place(layout(), Storage::Constant(&bytes), None).unwrap();
        assert_eq!(constant.output::<i16>().err(), Some(Error::AccessFailed));
    }

    #[test]
    fn a_tensor_over_another_ones_memory_keeps_its_access() {
        let constant = Tensor::place(layout(), Storage::Constant(&[1, 0, 2, 0]), None).unwrap();
        let view = Tensor::place(layout(), Storage::Missing, None).unwrap().over(&constant).unwrap();
        assert_eq!(view.input::<i16>().unwrap().get(1), 2);
        assert_eq!(view.output::<i16>().err(), Some(Error::AccessFailed));
    }

    #[test]
    fn a_dynamic_tensor_needs_memory_for_its_bounds() {
        let mut cells = [0; 2];
        let small = Tensor::place(layout(), Storage::Constant(&[0; 3]), Some(&mut cells));
        assert_eq!(small.err(), Some(Error::AccessFailed));
        let tensor = Tensor::place(layout(), Storage::Constant(&[0; 4]), Some(&mut cells)).unwrap();
        assert!(tensor.resize(&Shape::new(&[1]).unwrap()).is_ok());
    }
}
