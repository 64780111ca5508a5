//! Access to tensors whose dtype is known only at run time, with elements cast to the dtype that the operator computes
//! in.

use et_core::{Element, Result, ScalarType, Tensor};

use crate::operator::dispatch;

/// A callback that receives a function from offsets to elements.
pub type Reader<'a, C> = dyn FnMut(&dyn Fn(usize) -> C) -> Result<()> + 'a;

/// A callback that receives a function that stores an element at an offset.
type Writer<'a, R> = dyn FnMut(&dyn Fn(usize, R)) -> Result<()> + 'a;

/// Calls `body` with a function that reads elements of `tensor` as `C`; `D` are the possible dtypes of the tensor.
pub fn reading<C: Element, const D: u32>(tensor: &Tensor<'_>, body: &mut Reader<'_, C>) -> Result<()> {
    dispatch!(D, tensor.scalar_type(), all, T => {
        let elements = tensor.input::<T>()?;
        body(&|index| elements.get(index).cast())
    })
}

/// Calls `body` with a function that stores an `R` in `tensor`; `D` are the possible dtypes of the tensor.
pub fn writing<R: Element, const D: u32>(tensor: &Tensor<'_>, body: &mut Writer<'_, R>) -> Result<()> {
    dispatch!(D, tensor.scalar_type(), all, T => {
        let elements = tensor.output::<T>()?;
        body(&|index, value| elements.set(index, value.cast()))
    })
}

/// A callback that receives a function from offsets to elements and a function that stores an element at an offset.
type Updater<'a, C> = dyn FnMut(&dyn Fn(usize) -> C, &dyn Fn(usize, C)) -> Result<()> + 'a;

/// Calls `body` with functions that read and store elements of `tensor` as `C`; `D` are the possible dtypes of the tensor.
pub fn updating<C: Element, const D: u32>(tensor: &Tensor<'_>, body: &mut Updater<'_, C>) -> Result<()> {
    dispatch!(D, tensor.scalar_type(), all, T => {
        let elements = tensor.output::<T>()?;
        body(&|index| elements.get(index).cast(), &|index, value| elements.set(index, value.cast()))
    })
}

/// Whether a kernel for the dtypes `D` can be called with tensors of different dtypes.
pub const fn is_mixed(selected: u32) -> bool {
    selected.count_ones() > 1
}

/// Whether the loops of elementwise operators over elements of this type are compiled for each operator. A host has all
/// operators for all types; there the loops of rarer types are compiled once and call the operator for each element.
pub const fn has_own_loops(scalar_type: ScalarType) -> bool {
    cfg!(not(feature = "catalogue")) || matches!(scalar_type, ScalarType::Float | ScalarType::Long)
}
