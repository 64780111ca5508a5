//! Tensors as the tables and the memory of `et-signal`.

use core::cell::Cell;

use et_core::{Aligned, Element, Error, Input, Plain, Result, Tensor};
use et_signal::Table;

/// The elements of a tensor.
#[derive(Clone, Copy)]
pub struct Elements<'a, T>(Aligned<Input<'a, T>>);

impl<'a, T: Element> Elements<'a, T> {
    /// The elements.
    ///
    /// # Errors
    /// Another type, or an address that no planner gives a tensor.
    pub fn of(tensor: &Tensor<'a>) -> Result<Self> {
        tensor.input::<T>()?.aligned().map(Self).ok_or(Error::InvalidArgument)
    }
}

impl<T: Element + Default> Table<T> for Elements<'_, T> {
    #[inline]
    fn at(self, index: usize) -> T {
        self.0.get(index).unwrap_or_default()
    }

    #[inline]
    fn pair(self, index: usize) -> (T, T) {
        self.0.pair(index).unwrap_or_default()
    }
}

/// The memory of a tensor.
///
/// # Errors
/// As of [`Elements::of`].
pub fn cells<'a, T: Element + Plain>(tensor: &Tensor<'a>) -> Result<&'a [Cell<T>]> {
    Ok(tensor.output::<T>()?.aligned().ok_or(Error::InvalidArgument)?.cells())
}
