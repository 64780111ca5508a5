//! The greatest or least element of a lane. NaN is both, as in PyTorch.

use core::cmp::Ordering;

use et_core::{Args, Element, Error, Input, Result, ScalarType, Shape, Tensor};

use super::reduce::{Folded, Lane};
use crate::Meta;

/// The dimensions that `amax` and `amin` fold: argument 1.
pub fn meta_of_values(args: &Args<'_, '_>) -> Result<Meta> {
    meta(args, Folded::argument(args, 1)?)
}

/// The dimension that argument 1 names; every dimension if the argument is absent.
pub fn dimension(args: &Args<'_, '_>) -> Result<Folded> {
    match args.optional_int(1)? {
        Some(dim) => Folded::of(&args.tensor(0)?.shape(), &[dim]),
        None => Ok(Folded::ALL),
    }
}

/// The dtype and shape of the reduced first argument; argument 2 says whether reduced dimensions are kept. An output
/// element that reduces zero input elements is refused.
pub fn meta(args: &Args<'_, '_>, folded: Folded) -> Result<Meta> {
    let input = args.tensor(0)?;
    let shape = folded.shape(&input.shape(), args.bool(2)?)?;
    if folded.count(&input.shape())? == 0 && shape.numel()? > 0 {
        return Err(Error::InvalidArgument);
    }
    Ok(Meta { scalar_type: input.scalar_type(), shape })
}

/// The meta of the rank-0 extremum over all elements; an empty tensor is refused.
pub fn meta_of_all(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let input = args.tensor(0)?;
    if input.numel() == 0 {
        return Err(Error::InvalidArgument);
    }
    Ok(Meta { scalar_type: input.scalar_type(), shape: Shape::SCALAR })
}

/// As [`meta`], of `int64` indices.
pub fn meta_of_indices(args: &Args<'_, '_>, folded: Folded) -> Result<Meta> {
    Ok(Meta { scalar_type: ScalarType::Long, ..meta(args, folded)? })
}

/// Stores the extreme element of each lane.
pub fn store_values<T: Element>(args: &Args<'_, '_>, out: &Tensor<'_>, wanted: Ordering) -> Result<()> {
    store_extremes::<T>(&args.tensor(0)?, Folded::argument(args, 1)?, out, wanted)
}

/// Stores the extreme element of `input` along the folded dimensions.
pub fn store_extremes<T: Element>(
    input: &Tensor<'_>,
    folded: Folded,
    out: &Tensor<'_>,
    wanted: Ordering,
) -> Result<()> {
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    folded.for_each(input, [out], |lane, [at]| {
        to.set(at, find(from, lane, wanted)?.0);
        Ok(())
    })
}

/// Stores the index of the extreme element of each lane.
pub fn store_indices<T: Element>(args: &Args<'_, '_>, out: &Tensor<'_>, wanted: Ordering) -> Result<()> {
    let (input, to) = (args.tensor(0)?, out.output::<i64>()?);
    let from = input.input::<T>()?;
    dimension(args)?.for_each(&input, [out], |lane, [at]| {
        to.set(at, find(from, lane, wanted)?.1 as i64);
        Ok(())
    })
}

/// Stores both in out tensors 3 and 4.
pub fn store_both<T: Element>(args: &Args<'_, '_>, wanted: Ordering) -> Result<()> {
    let [input, values, indices] = [args.tensor(0)?, args.tensor(3)?, args.tensor(4)?];
    let (from, to, places) = (input.input::<T>()?, values.output::<T>()?, indices.output::<i64>()?);
    dimension(args)?.for_each(&input, [&values, &indices], |lane, [value_at, index_at]| {
        let (value, index) = find(from, lane, wanted)?;
        to.set(value_at, value);
        places.set(index_at, index as i64);
        Ok(())
    })
}

/// The extreme element and its index in the lane; the first of equal elements.
fn find<T: Element>(from: Input<'_, T>, lane: Lane, wanted: Ordering) -> Result<(T, usize)> {
    let mut elements = lane.map(|offset| from.get(offset)).enumerate();
    let (_, first) = elements.next().ok_or(Error::InvalidArgument)?;
    Ok(elements.fold(
        (first, 0),
        |best, (index, element)| {
            if beats(element, best.0, wanted) { (element, index) } else { best }
        },
    ))
}

/// Whether `element` comes before `held`. If the two do not compare, at least one operand is NaN, and the first NaN
/// wins.
pub fn beats<T: Element>(element: T, held: T, wanted: Ordering) -> bool {
    match element.partial_cmp(&held) {
        Some(ordering) => ordering == wanted,
        None => held.partial_cmp(&held).is_some(),
    }
}

/// Whether an element comes before another one in the order of all elements, which begins with the extreme one; of equal elements, the first
/// come first. Elements have their indices.
pub fn precedes<T: Element>(left: (T, usize), right: (T, usize), wanted: Ordering) -> bool {
    beats(left.0, right.0, wanted) || (!beats(right.0, left.0, wanted) && left.1 < right.1)
}
