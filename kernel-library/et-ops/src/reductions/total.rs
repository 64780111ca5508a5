//! Sums of lanes: `sum` and `mean`, whose arguments are `self, dim, keepdim, dtype`.

use et_core::{Args, Error, Number, Result, ScalarType, Tensor};

use crate::Meta;
use crate::family::convert::{is_mixed, reading};
use crate::family::opmath::Opmath;
use crate::family::reduce::Folded;

/// The shape that is left, of the type that is asked for or else `default`.
pub fn meta(args: &Args<'_, '_>, default: ScalarType) -> Result<Meta> {
    let shape = Folded::argument(args, 1)?.shape(&args.tensor(0)?.shape(), args.bool(2)?)?;
    Ok(Meta { scalar_type: args.optional_scalar_type(3)?.unwrap_or(default), shape })
}

/// Stores the sum of each lane in `out` after `finish`, which also gets the number of summands.
pub fn store<T: Opmath, const D: u32>(
    args: &Args<'_, '_>,
    out: &Tensor<'_>,
    finish: impl Fn(T::Math, usize) -> T::Math,
) -> Result<()> {
    store_folded::<T, D>(&args.tensor(0)?, Folded::argument(args, 1)?, out, finish)
}

/// Like [`store`], for `input` along the reduced dimensions.
pub fn store_folded<T: Opmath, const D: u32>(
    input: &Tensor<'_>,
    folded: Folded,
    out: &Tensor<'_>,
    finish: impl Fn(T::Math, usize) -> T::Math,
) -> Result<()> {
    if input.scalar_type() == T::TYPE {
        let from = input.input::<T>()?;
        return store_loaded::<T>([input, out], folded, |offset| from.get(offset).raise(), finish);
    }
    if const { !is_mixed(D) } {
        return Err(Error::InvalidType);
    }
    reading::<T::Math, D>(input, &mut |load| store_loaded::<T>([input, out], folded, load, &finish))
}

fn store_loaded<T: Opmath>(
    [input, out]: [&Tensor<'_>; 2],
    folded: Folded,
    load: impl Fn(usize) -> T::Math,
    finish: impl Fn(T::Math, usize) -> T::Math,
) -> Result<()> {
    let (to, count) = (out.output::<T>()?, folded.count(&input.shape())?);
    folded.for_each(input, [out], |lane, [at]| {
        let sum = lane.fold(T::Math::ZERO, |sum, offset| sum.plus(load(offset)));
        to.set(at, T::lower(finish(sum, count)));
        Ok(())
    })
}
