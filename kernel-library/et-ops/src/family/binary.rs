//! Operators on pairs of elements, with broadcasting and type promotion.

use et_core::{Args, Element, Result, ScalarType, Tensor};

use super::walk::Walk;
use crate::Meta;
use crate::operator::dispatch;

/// The type in which an operation on two tensors is computed: a tensor of rank 0 counts only where it is of a higher
/// category (boolean, integer, floating-point) than the other, as in PyTorch.
pub fn promote(left: &Tensor<'_>, right: &Tensor<'_>) -> ScalarType {
    let (left_type, right_type) = (left.scalar_type(), right.scalar_type());
    match (left.shape().rank() == 0, right.shape().rank() == 0) {
        (true, false) if category(left_type) <= category(right_type) => right_type,
        (false, true) if category(right_type) <= category(left_type) => left_type,
        _ => left_type.promote(right_type),
    }
}

fn category(scalar_type: ScalarType) -> u8 {
    if scalar_type.is_float() { 2 } else { u8::from(scalar_type.is_integer()) }
}

/// The rule of operators whose output has the promoted type and the broadcast shape of their first two arguments.
pub fn promoted(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    Ok(Meta { scalar_type: promote(&left, &right), shape: left.shape().broadcast(&right.shape())? })
}

/// Stores `f` of each pair of elements in `out`, which takes the broadcast shape. Elements are converted to `C` before and
/// to the type of `out` after; `D` are the types that any of the three may have.
pub fn zip<C: Element, R: Element, const D: u32>(
    [left, right, out]: [&Tensor<'_>; 3],
    f: impl Fn(C, C) -> R,
) -> Result<()> {
    let shape = left.shape().broadcast(&right.shape())?;
    out.resize(&shape)?;
    let loads = (load::<C, D>(left)?, load::<C, D>(right)?);
    let store = store::<R, D>(out)?;
    for [left_at, right_at, out_at] in Walk::new(&shape, [left, right, out])? {
        store(out, out_at, f(loads.0(left, left_at)?, loads.1(right, right_at)?))?;
    }
    Ok(())
}

type Load<C> = fn(&Tensor<'_>, usize) -> Result<C>;
type Store<R> = fn(&Tensor<'_>, usize, R) -> Result<()>;

/// How to read an element of `tensor` as a `C`.
pub fn load<C: Element, const D: u32>(tensor: &Tensor<'_>) -> Result<Load<C>> {
    dispatch!(D, tensor.scalar_type(), all, T => Ok(|tensor, index| Ok(tensor.input::<T>()?.get(index).cast())))
}

/// How to store an `R` in `tensor`.
pub fn store<R: Element, const D: u32>(tensor: &Tensor<'_>) -> Result<Store<R>> {
    dispatch!(D, tensor.scalar_type(), all, T => Ok(|tensor, index, value| {
        tensor.output::<T>()?.set(index, value.cast());
        Ok(())
    }))
}
