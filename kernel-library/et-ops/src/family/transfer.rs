//! Operators that move elements without computing.

use et_core::{Args, Element, Input, Number, Output, Result, ScalarType, Shape, Tensor};

use super::convert::{is_mixed, reading};
use super::place::Place;
use super::unary;
use super::walk::Walk;
use crate::Meta;
use crate::operator::dispatch;

/// A rule's result: the type of the first argument with another shape.
pub fn reshaped(args: &Args<'_, '_>, shape: Shape) -> Result<Meta> {
    Ok(Meta { shape, ..unary::like_first(args, 0)? })
}

/// Copies a box of `shape` elements from a place in a tensor to a place in a second tensor of the same dtype.
pub fn region<const D: u32>(
    shape: &Shape,
    (input, from): (&Tensor<'_>, Place),
    (out, to): (&Tensor<'_>, Place),
) -> Result<()> {
    dispatch!(D, out.scalar_type(), stored, T => region_of(shape, (input.input::<T>()?, from), (out.output::<T>()?, to)))
}

/// Copies `input` to `out`, which takes the shape of `input`. The dtypes are equal.
pub fn whole<const D: u32>(input: &Tensor<'_>, out: &Tensor<'_>) -> Result<()> {
    out.settle(|| Ok(input.shape()))?;
    region::<D>(&input.shape(), (input, Place::of(input)), (out, Place::of(out)))
}

/// Adds elements of `values` to elements of `out`, at the pairs of offsets that `for_each` names. The sum of booleans
/// is their logical or. The dtypes are equal.
pub fn accumulate<const D: u32>(
    values: &Tensor<'_>,
    out: &Tensor<'_>,
    for_each: impl FnOnce(&mut dyn FnMut(usize, usize)) -> Result<()>,
) -> Result<()> {
    if out.scalar_type() == ScalarType::Bool {
        let (from, to) = (values.input::<bool>()?, out.output::<bool>()?);
        return for_each(&mut |own, value| to.set(own, to.get(own) | from.get(value)));
    }
    dispatch!(D, out.scalar_type(), numbers, T => {
        let (from, to) = (values.input::<T>()?, out.output::<T>()?);
        for_each(&mut |own, value| to.set(own, to.get(own).plus(from.get(value))))
    })
}

/// As [`region`], where the types may differ.
pub fn region_converted<const D: u32>(
    shape: &Shape,
    (input, from): (&Tensor<'_>, Place),
    (out, to): (&Tensor<'_>, Place),
) -> Result<()> {
    if input.scalar_type() == out.scalar_type() || const { !is_mixed(D) } {
        return region::<D>(shape, (input, from), (out, to));
    }
    dispatch!(D, out.scalar_type(), all, T => {
        let elements = out.output::<T>()?;
        reading::<T, D>(input, &mut |load| {
            Walk::over(shape, [from, to])?.for_each(|[from, to]| elements.set(to, load(from)));
            Ok(())
        })
    })
}

/// Copies all elements in logical order; the shapes may differ, the counts are equal.
pub fn in_order<const D: u32>(input: &Tensor<'_>, out: &Tensor<'_>) -> Result<()> {
    dispatch!(D, out.scalar_type(), stored, T => in_order_of(input, input.input::<T>()?, out, out.output::<T>()?))
}

fn region_of<T: Element>(
    shape: &Shape,
    (input, from): (Input<'_, T>, Place),
    (out, to): (Output<'_, T>, Place),
) -> Result<()> {
    let (rows, inner) = (outer(shape), shape.rank().saturating_sub(1));
    let (length, from_step, to_step) = (shape.around(inner)[1], from.strides[inner], to.strides[inner]);
    for [mut from, mut to] in Walk::over(&rows, [from, to])? {
        for _ in 0..length {
            out.set(to, input.get(from));
            (from, to) = (from.wrapping_add(from_step), to.wrapping_add(to_step));
        }
    }
    Ok(())
}

/// The box of the first elements of all rows; without elements where rows have none, however many rows there are.
fn outer(shape: &Shape) -> Shape {
    let mut rows = *shape;
    if let Some(innermost) = rows.sizes_mut().last_mut() {
        *innermost = (*innermost).min(1);
    }
    rows
}

fn in_order_of<T: Element>(input: &Tensor<'_>, from: Input<'_, T>, out: &Tensor<'_>, to: Output<'_, T>) -> Result<()> {
    if input.is_contiguous() && out.is_contiguous() {
        from.iter().enumerate().for_each(|(index, element)| to.set(index, element));
        return Ok(());
    }
    let pairs = Walk::over(&input.shape(), [Place::of(input)])?.zip(Walk::over(&out.shape(), [Place::of(out)])?);
    pairs.for_each(|([from_at], [to_at])| to.set(to_at, from.get(from_at)));
    Ok(())
}
