//! Functions that are computed in `f64` whatever the type of the elements. The functions are function pointers or trait
//! objects, so that all operators share a loop.

use et_core::{Args, Result, Tensor};

use crate::Meta;
use crate::family::binary;
use crate::family::convert::{reading, writing};
use crate::family::place::Place;
use crate::family::real::floated;
use crate::family::walk::Walk;

/// The kernel of a function of a number: arguments `self, out`.
pub fn map<const D: u32>(args: &Args<'_, '_>, function: fn(f64) -> f64) -> Result<()> {
    map_tensor::<D>(&args.tensor(0)?, &args.tensor(1)?, &function)
}

/// Stores the function's values at the elements of `input`.
pub fn map_tensor<const D: u32>(input: &Tensor<'_>, out: &Tensor<'_>, function: &dyn Fn(f64) -> f64) -> Result<()> {
    out.settle(|| Ok(input.shape()))?;
    reading::<f64, D>(input, &mut |load| {
        writing::<f64, D>(out, &mut |store| {
            let walk = Walk::over(&input.shape(), [Place::of(input), Place::of(out)])?;
            walk.for_each(|[from_at, to_at]| store(to_at, function(load(from_at))));
            Ok(())
        })
    })
}

/// The rule of functions of two numbers: the promoted type, `float32` instead of integers, and the broadcast shape.
pub fn promoted(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let common = binary::promoted(args, index)?;
    Ok(Meta { scalar_type: floated(common.scalar_type), ..common })
}

/// The kernel of a function of two numbers: arguments `self, other, out`.
pub fn zip<const D: u32>(args: &Args<'_, '_>, function: fn(f64, f64) -> f64) -> Result<()> {
    let [left, right, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let shape = left.shape().broadcast(&right.shape())?;
    out.resize(&shape)?;
    reading::<f64, D>(&left, &mut |first| {
        reading::<f64, D>(&right, &mut |second| {
            writing::<f64, D>(&out, &mut |store| {
                Walk::new(&shape, [&left, &right, &out])?
                    .for_each(|[left_at, right_at, at]| store(at, function(first(left_at), second(right_at))));
                Ok(())
            })
        })
    })
}
