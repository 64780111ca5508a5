//! Operators on pairs of elements, with broadcasting and type promotion.

use et_core::{Args, Element, Error, Result, ScalarType, Tensor};

use super::convert::{has_own_loops, is_mixed, reading, writing};
use super::walk::Walk;
use crate::Meta;

/// The type in which an operation on two tensors is computed: see [`promote_all`].
#[inline]
pub fn promote(left: &Tensor<'_>, right: &Tensor<'_>) -> ScalarType {
    if left.scalar_type() == right.scalar_type() { left.scalar_type() } else { promote_all(&[left, right]) }
}

/// The dtype in which an operation on tensors is computed. As in PyTorch, tensors of rank 0 count only if they are of a
/// higher category (boolean, integer, floating-point) than the rest.
pub fn promote_all(tensors: &[&Tensor<'_>]) -> ScalarType {
    let of = |is_single: bool| {
        let types =
            tensors.iter().filter(|tensor| (tensor.rank() == 0) == is_single).map(|tensor| tensor.scalar_type());
        types.reduce(ScalarType::promote)
    };
    match (of(false), of(true)) {
        (Some(several), Some(single)) if category(single) > category(several) => several.promote(single),
        (Some(common), _) | (None, Some(common)) => common,
        (None, None) => ScalarType::Bool,
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

/// The rule of operators on a tensor and a number whose output has the promoted type and the shape of the tensor.
pub fn promoted_with_scalar(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, scalar) = (args.tensor(0)?, args.scalar(1)?);
    Ok(Meta { scalar_type: scalar.promote(input.scalar_type()), shape: input.shape() })
}

/// The rule of operators whose output is boolean and has the broadcast shape of their first two arguments.
pub fn boolean(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    Ok(Meta { scalar_type: ScalarType::Bool, ..promoted(args, index)? })
}

/// Stores `f` of each pair of elements in `out`, which takes the broadcast shape. Elements are converted to `C` before and
/// to the type of `out` after; `D` are the types that any of the three may have.
pub fn zip<C: Element, R: Element, const D: u32>(tensors: [&Tensor<'_>; 3], f: impl Fn(C, C) -> R) -> Result<()> {
    let in_step = fit(tensors)?;
    if tensors.map(Tensor::scalar_type) == [C::TYPE, C::TYPE, R::TYPE] {
        if const { has_own_loops(C::TYPE) } {
            zip_same(in_step, tensors, f)
        } else {
            zip_same::<C, R>(in_step, tensors, &f as &dyn Fn(C, C) -> R)
        }
    } else if const { is_mixed(D) } {
        zip_mixed::<C, R, D>(tensors, &f)
    } else {
        Err(Error::InvalidType)
    }
}

/// Resizes the last tensor to the broadcast shape of the first two. Returns whether corresponding elements lie at equal
/// offsets in all three tensors. Shapes are built only if the layouts differ.
fn fit([left, right, out]: [&Tensor<'_>; 3]) -> Result<bool> {
    let alike = left.lies_like(right);
    if !(alike && left.lies_like(out)) {
        out.settle(|| left.shape().broadcast(&right.shape()))?;
        return Ok(alike && left.lies_like(out));
    }
    Ok(true)
}

fn zip_same<C: Element, R: Element>(
    in_step: bool,
    [left, right, out]: [&Tensor<'_>; 3],
    f: impl Fn(C, C) -> R,
) -> Result<()> {
    let (first, second, to) = (left.input::<C>()?, right.input::<C>()?, out.output::<R>()?);
    if in_step {
        // This comparison of lengths spares a bounds check per element.
        let (first, second) = (first.window(0, to.len()), second.window(0, to.len()));
        for index in 0..to.len() {
            to.set(index, f(first.get(index), second.get(index)));
        }
    } else {
        walk([left, right, out])?
            .for_each(|[left_at, right_at, out_at]| to.set(out_at, f(first.get(left_at), second.get(right_at))));
    }
    Ok(())
}

/// Walks over the shape of the last tensor.
fn walk(tensors: [&Tensor<'_>; 3]) -> Result<Walk<3>> {
    Walk::new(&tensors[2].shape(), tensors)
}

/// The function is a trait object, because each element is read and stored through trait objects anyway: one function per pair
/// of types serves all operators.
fn zip_mixed<C: Element, R: Element, const D: u32>(
    tensors @ [left, right, out]: [&Tensor<'_>; 3],
    f: &dyn Fn(C, C) -> R,
) -> Result<()> {
    reading::<C, D>(left, &mut |first| {
        reading::<C, D>(right, &mut |second| {
            writing::<R, D>(out, &mut |store| {
                walk(tensors)?
                    .for_each(|[left_at, right_at, out_at]| store(out_at, f(first(left_at), second(right_at))));
                Ok(())
            })
        })
    })
}
