//! A tensor at run time: a pointer to elements with their layout. A tensor owns no memory.
//!
//! Hosted builds inline the accessors into the smallest kernels, whose time is mostly access; bare metal saves that
//! code size.
#![allow(unsafe_code)] // Holds raw pointers; the constructor's contract makes their use sound.

use core::cell::Cell;
use core::marker::PhantomData;

use crate::dim_order::{is_row_major, strides};
use crate::{
    DimOrder, Element, Error, Indices, Input, MAX_RANK, Output, ROW_MAJOR, Result, STATIC_SHAPES, ScalarType, Shape,
};

/// Whether kernels may write a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A constant, perhaps in read-only memory.
    Constant,
    /// Memory of an arena or of the caller.
    Writable,
}

/// The layout of a tensor: type, sizes and dim order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorLayout<'a> {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension, outermost first; the upper bounds where the shape is dynamic.
    pub sizes: Indices<'a>,
    /// The dimensions in memory order, outermost first; the same length as sizes.
    pub dim_order: &'a [u8],
}

impl TensorLayout<'_> {
    /// The bytes that the elements take; an error when the sizes are malformed or the bytes too many.
    pub fn nbytes(&self) -> Result<usize> {
        let mut product = Some(1_i32);
        let mut is_empty = false;
        for size in self.sizes.iter() {
            if size < 0 {
                return Err(Error::InvalidArgument);
            }
            is_empty |= size == 0;
            product = product.and_then(|product| product.checked_mul(size));
        }
        // A size of zero makes the tensor empty even if the product of the remaining sizes overflows.
        let numel = if is_empty { 0 } else { product.ok_or(Error::InvalidArgument)? };
        let bytes = (numel as usize).checked_mul(self.scalar_type.size());
        bytes.filter(|bytes| *bytes <= isize::MAX as usize).ok_or(Error::InvalidArgument)
    }

    /// The rank of a valid layout.
    fn checked_rank(&self) -> Result<u8> {
        self.nbytes()?;
        if self.sizes.len() > MAX_RANK || self.dim_order.len() != self.sizes.len() {
            return Err(Error::InvalidArgument);
        }
        if ROW_MAJOR && !is_row_major(self.dim_order) {
            return Err(Error::NotSupported);
        } else if !ROW_MAJOR {
            DimOrder::check(self.dim_order)?;
        }
        Ok(self.sizes.len() as u8)
    }
}

/// A dense tensor of up to [`MAX_RANK`] dimensions, in 16 bytes on a 32-bit machine.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'a> {
    data: *mut u8,
    /// `rank` sizes; for a dynamic tensor, cells with `rank` current sizes, then `rank` upper bounds.
    sizes: *const u8,
    dim_order: *const u8,
    scalar_type: ScalarType,
    rank: u8,
    access: Access,
    dynamic: bool,
    memory: PhantomData<&'a ()>,
}

impl<'a> Tensor<'a> {
    /// A tensor with a static shape. `data` may be null until [`Tensor::with_data`].
    ///
    /// # Safety
    /// `data` is null, or [`Tensor::nbytes`] bytes from `data` are initialized, stay readable for `'a`, and writable if
    /// `access` says so; meanwhile no Rust reference points to these bytes and no other thread writes these bytes.
    pub unsafe fn new(layout: TensorLayout<'a>, data: *mut u8, access: Access) -> Result<Self> {
        let tensor = Self {
            data,
            sizes: layout.sizes.bytes().as_ptr(),
            dim_order: layout.dim_order.as_ptr(),
            scalar_type: layout.scalar_type,
            rank: layout.checked_rank()?,
            access,
            dynamic: false,
            memory: PhantomData,
        };
        Ok(tensor)
    }

    /// A tensor whose shape may change within the bounds that `layout` gives. `cells` must be twice the rank.
    ///
    /// # Safety
    /// As for [`Tensor::new`].
    pub unsafe fn new_dynamic(
        layout: TensorLayout<'a>,
        data: *mut u8,
        access: Access,
        cells: &'a [Cell<i32>],
    ) -> Result<Self> {
        // SAFETY: the caller's promise is the same.
        unsafe { Self::new(layout, data, access)? }.with_bounds(cells)
    }

    /// The tensor with a dynamic shape whose upper bounds are the current sizes. `cells` has length 2 x rank.
    pub(crate) fn with_bounds(self, cells: &'a [Cell<i32>]) -> Result<Self> {
        let rank = usize::from(self.rank);
        if STATIC_SHAPES || cells.len() != 2 * rank {
            return Err(Error::Internal);
        }
        let (sizes, bounds) = cells.split_at(rank);
        for (index, (size, bound)) in sizes.iter().zip(bounds).enumerate() {
            size.set(self.size_word(index));
            bound.set(self.size_word(index));
        }
        Ok(Self { sizes: cells.as_ptr().cast(), dynamic: true, ..self })
    }

    /// The tensor over other memory.
    ///
    /// # Safety
    /// The same as of [`Tensor::new`].
    #[must_use]
    pub const unsafe fn with_data(self, data: *mut u8) -> Self {
        Self { data, ..self }
    }

    /// The tensor with another access to its memory.
    ///
    /// # Safety
    /// The same as of [`Tensor::new`].
    #[must_use]
    pub(crate) const unsafe fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Whether kernels may write the elements.
    pub const fn access(&self) -> Access {
        self.access
    }

    /// Where the elements start; null when no memory was given yet.
    pub const fn data(&self) -> *mut u8 {
        self.data
    }

    /// The type of the elements.
    pub const fn scalar_type(&self) -> ScalarType {
        self.scalar_type
    }

    /// Whether the shape may change at run time.
    pub const fn is_dynamic(&self) -> bool {
        !STATIC_SHAPES && self.dynamic
    }

    /// The current shape.
    pub fn shape(&self) -> Shape {
        let mut shape = Shape::SCALAR;
        for index in 0..usize::from(self.rank) {
            // The constructor and `resize` admit no size that `push` would refuse.
            let _ = shape.push(self.size_word(index));
        }
        shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    /// The current size of dimension `dim`, or 0 for a dimension beyond the rank.
    pub fn size(&self, dim: usize) -> usize {
        if dim < self.rank() { self.size_word(dim) as usize } else { 0 }
    }

    /// The order of the dimensions in memory.
    pub fn dim_order(&self) -> DimOrder {
        DimOrder::new(self.dims()).unwrap_or(DimOrder::contiguous(self.rank()))
    }

    /// The dimensions in memory order, outermost first.
    pub fn dims(&self) -> &'a [u8] {
        // SAFETY: the constructor saw `rank` bytes there, which live for `'a`.
        unsafe { core::slice::from_raw_parts(self.dim_order, self.rank()) }
    }

    /// Whether this tensor has the shape and the order of `other`, so that equal positions are at equal places.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    pub fn lies_like(&self, other: &Self) -> bool {
        let dims = self.dims().iter().zip(other.dims());
        self.rank == other.rank
            && dims
                .enumerate()
                .all(|(index, (dim, other_dim))| self.size_word(index) == other.size_word(index) && dim == other_dim)
    }

    /// Whether the elements lie in row-major order.
    pub fn is_contiguous(&self) -> bool {
        ROW_MAJOR || is_row_major(self.dims())
    }

    /// Elements between neighbours along each dimension.
    pub fn strides(&self) -> [usize; MAX_RANK] {
        strides(self.dims(), |dim| self.size(dim))
    }

    /// The number of elements.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    pub fn numel(&self) -> usize {
        self.product_of_words(0)
    }

    /// The number of bytes that the elements take.
    pub fn nbytes(&self) -> usize {
        self.numel() * self.scalar_type.size()
    }

    /// The size in bytes at the upper bounds.
    pub fn capacity(&self) -> usize {
        let bounds = if self.is_dynamic() { usize::from(self.rank) } else { 0 };
        self.product_of_words(bounds) * self.scalar_type.size()
    }

    /// Gives an output the shape of the operator's rule. Where all shapes are static, the output has that shape already.
    #[inline]
    pub fn settle(&self, shape: impl FnOnce() -> Result<Shape>) -> Result<()> {
        if STATIC_SHAPES { Ok(()) } else { self.resize(&shape()?) }
    }

    /// Changes the shape: a static tensor accepts only its own shape, a dynamic tensor any shape within its bounds.
    pub fn resize(&self, shape: &Shape) -> Result<()> {
        let rank = self.rank();
        let fits = |(index, size): (usize, &i32)| match self.is_dynamic() {
            // A rule may compute a size from the numbers of a program file.
            true => (0..=self.size_word(rank + index)).contains(size),
            false => *size == self.size_word(index),
        };
        if shape.rank() != rank || !shape.sizes().iter().enumerate().all(fits) {
            return Err(Error::InvalidArgument);
        }
        if !self.is_dynamic() {
            return Ok(());
        }
        // SAFETY: a dynamic tensor's sizes are `2 * rank` cells that live for `'a`.
        let cells = unsafe { core::slice::from_raw_parts(self.sizes.cast::<Cell<i32>>(), rank) };
        cells.iter().zip(shape.sizes()).for_each(|(cell, size)| cell.set(*size));
        Ok(())
    }

    /// The elements to read, in memory order.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    pub fn input<T: Element>(&self) -> Result<Input<'a, T>> {
        let len = self.checked_len::<T>()?;
        // SAFETY: `checked_len` checked the type and the length of the memory; the constructor's contract covers both.
        Ok(unsafe { Input::new(self.data, len) })
    }

    /// The elements to write, in memory order.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    pub fn output<T: Element>(&self) -> Result<Output<'a, T>> {
        let len = self.checked_len::<T>()?;
        if self.access == Access::Constant {
            return Err(Error::AccessFailed);
        }
        // SAFETY: as above, and the tensor is writable.
        Ok(unsafe { Output::new(self.data, len) })
    }

    /// The bytes of the elements to read.
    pub fn bytes(&self) -> Result<Input<'a, u8>> {
        let len = self.nbytes();
        self.check_memory(len)?;
        // SAFETY: `nbytes` bytes are readable by the constructor's contract.
        Ok(unsafe { Input::new(self.data, len) })
    }

    /// The bytes of the elements to write.
    pub fn bytes_mut(&self) -> Result<Output<'a, u8>> {
        let len = self.nbytes();
        self.check_memory(len)?;
        if self.access == Access::Constant {
            return Err(Error::AccessFailed);
        }
        // SAFETY: `nbytes` bytes are writable by the constructor's contract.
        Ok(unsafe { Output::new(self.data, len) })
    }

    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    fn checked_len<T: Element>(&self) -> Result<usize> {
        if self.scalar_type != T::TYPE {
            return Err(Error::InvalidType);
        }
        let len = self.numel();
        self.check_memory(len)?;
        Ok(len)
    }

    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    fn check_memory(&self, wanted: usize) -> Result<()> {
        if self.data.is_null() && wanted > 0 { Err(Error::AccessFailed) } else { Ok(()) }
    }

    /// The product of `rank` sizes. The product fits in 31 bits; with a size of zero, intermediate products may wrap.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    fn product_of_words(&self, start: usize) -> usize {
        let words = (start..start + usize::from(self.rank)).map(|index| self.size_word(index) as usize);
        words.fold(1, usize::wrapping_mul)
    }

    /// Size `index`; for a dynamic tensor, upper bounds follow the sizes.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    fn size_word(&self, index: usize) -> i32 {
        // SAFETY: callers stay below `rank` (twice that when dynamic), which the constructor saw there; a cell of this
        // thread is read between writes, and sizes in a program file never change.
        let word = unsafe { self.sizes.cast::<i32>().add(index).read_unaligned() };
        if self.is_dynamic() { word } else { i32::from_le(word) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u8; 8] = [2, 0, 0, 0, 3, 0, 0, 0];

    fn layout(scalar_type: ScalarType) -> TensorLayout<'static> {
        TensorLayout { scalar_type, sizes: Indices::new(&SIZES), dim_order: &[0, 1] }
    }

    #[test]
    fn elements_are_stored_and_loaded() {
        let mut memory = [0_u8; 24];
        // SAFETY: `memory` outlives the tensor and is not touched otherwise.
        let tensor = unsafe { Tensor::new(layout(ScalarType::Float), memory.as_mut_ptr(), Access::Writable) }.unwrap();
        tensor.output::<f32>().unwrap().set(5, 1.5);
        assert_eq!(tensor.input::<f32>().unwrap().get(5), 1.5);
        assert_eq!(tensor.input::<i32>().err(), Some(Error::InvalidType));
        assert_eq!(tensor.nbytes(), 24);
    }

    #[test]
    fn a_constant_cannot_be_written() {
        let memory = [0_u8; 24];
        // SAFETY: a constant is never written.
        let tensor =
            unsafe { Tensor::new(layout(ScalarType::Float), memory.as_ptr().cast_mut(), Access::Constant) }.unwrap();
        assert_eq!(tensor.output::<f32>().err(), Some(Error::AccessFailed));
    }

    #[test]
    fn a_tensor_without_memory_gives_no_view() {
        // SAFETY: null is allowed.
        let tensor = unsafe { Tensor::new(layout(ScalarType::Byte), core::ptr::null_mut(), Access::Writable) }.unwrap();
        assert_eq!(tensor.input::<u8>().err(), Some(Error::AccessFailed));
    }

    #[test]
    fn a_dynamic_tensor_resizes_within_its_bounds() {
        let cells = [const { Cell::new(0) }; 4];
        let data = core::ptr::null_mut();
        // SAFETY: null is allowed.
        let tensor = unsafe { Tensor::new_dynamic(layout(ScalarType::Byte), data, Access::Writable, &cells) }.unwrap();
        tensor.resize(&Shape::new(&[1, 3]).unwrap()).unwrap();
        assert_eq!((tensor.numel(), tensor.capacity()), (3, 6));
        assert_eq!(tensor.resize(&Shape::new(&[2, 4]).unwrap()), Err(Error::InvalidArgument));
        // The memory has no such number of elements.
        let mut negative = Shape::new(&[1, 3]).unwrap();
        negative.sizes_mut()[1] = -6;
        assert_eq!(tensor.resize(&negative), Err(Error::InvalidArgument));
        assert_eq!(negative.numel(), Err(Error::InvalidArgument));
    }

    #[test]
    fn malformed_layouts_are_refused() {
        let negative = [0xff; 8];
        let bad = [
            TensorLayout { dim_order: &[0], ..layout(ScalarType::Byte) },
            TensorLayout { dim_order: &[1, 1], ..layout(ScalarType::Byte) },
            TensorLayout { sizes: Indices::new(&negative), ..layout(ScalarType::Byte) },
        ];
        for layout in bad {
            // SAFETY: null is allowed.
            assert!(unsafe { Tensor::new(layout, core::ptr::null_mut(), Access::Writable) }.is_err());
        }
    }
}
