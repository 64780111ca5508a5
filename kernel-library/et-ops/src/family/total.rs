//! Sums of lanes: `sum` and `mean`, whose arguments are `self, dim, keepdim, dtype`.

use et_core::{Args, Error, Number, Result, ScalarType, Tensor};

use super::accumulate::Accumulate;
use super::binary;
use super::reduce::Folded;
use crate::Meta;

/// The shape that is left, of the type that is asked for or else `default`.
pub fn meta(args: &Args<'_, '_>, default: ScalarType) -> Result<Meta> {
    let shape = Folded::argument(args, 1)?.shape(&args.tensor(0)?.shape(), args.bool(2)?)?;
    Ok(Meta { scalar_type: args.optional_scalar_type(3)?.unwrap_or(default), shape })
}

/// Stores the sum of each lane in `out` after `finish`, which also gets the number of summands.
pub fn store<T: Accumulate, const D: u32>(
    args: &Args<'_, '_>,
    out: &Tensor<'_>,
    finish: impl Fn(T::Sum, usize) -> T::Sum,
) -> Result<()> {
    let input = args.tensor(0)?;
    if input.scalar_type() == T::TYPE {
        let from = input.input::<T>()?;
        return store_loaded::<T>(args, out, |offset| Ok(from.get(offset).open()), finish);
    }
    if const { D.count_ones() < 2 } {
        return Err(Error::InvalidType);
    }
    let load = binary::load::<T::Sum, D>(&input)?;
    store_loaded::<T>(args, out, |offset| load(&input, offset), finish)
}

fn store_loaded<T: Accumulate>(
    args: &Args<'_, '_>,
    out: &Tensor<'_>,
    load: impl Fn(usize) -> Result<T::Sum>,
    finish: impl Fn(T::Sum, usize) -> T::Sum,
) -> Result<()> {
    let (input, folded, to) = (args.tensor(0)?, Folded::argument(args, 1)?, out.output::<T>()?);
    let count = folded.count(&input.shape())?;
    folded.for_each(&input, [out], |mut lane, [at]| {
        let sum = lane.try_fold(T::Sum::ZERO, |sum, offset| load(offset).map(|element| sum.plus(element)))?;
        to.set(at, T::close(finish(sum, count)));
        Ok(())
    })
}
