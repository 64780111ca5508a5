//! Softmax along a dimension: exponentials of distances to the greatest element, against overflow.

use et_core::{Args, Error, Number, Result};

use crate::Meta;
use crate::family::lane::Lanes;
use crate::family::opmath::Opmath;
use crate::family::unary;
use crate::math::Math;

/// The rule; the arguments are `self, dim, half_to_float`. As in PyTorch on CPUs, the type never changes.
pub fn meta(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    args.tensor(0)?.shape().axis(args.int(1)?)?;
    if args.bool(2)? { Err(Error::NotSupported) } else { unary::like_first(args, index) }
}

/// Stores `finish(distance, scale)` for each element: `distance` is the element minus the maximum of the lane, `scale`
/// is the result of the argument `scale` for the sum of `exp(distance)` over the lane.
pub fn store<T: Opmath>(
    args: &Args<'_, '_>,
    scale: impl Fn(T::Math) -> T::Math,
    finish: impl Fn(T::Math, T::Math) -> T::Math,
) -> Result<()>
where
    T::Math: Math,
{
    let [input, out] = [args.tensor(0)?, args.tensor(3)?];
    let (from, to, shape) = (input.input::<T>()?, out.output::<T>()?, input.shape());
    let axis = shape.axis(args.int(1)?)?;
    let [_, length, _] = shape.around(axis);
    let lanes = Lanes::new(&shape, axis, [&input, &out])?;
    let [from_step, to_step] = lanes.steps;
    for [start, to_start] in lanes {
        let elements = (0..length).map(|index| from.get(start + index * from_step).raise());
        let greatest =
            elements.clone().fold(T::Math::LOWEST, |best, element| if best < element { element } else { best });
        let distances = elements.map(|element| element - greatest);
        let scale = scale(distances.clone().fold(T::Math::ZERO, |sum, distance| sum + distance.exp()));
        let results = distances.map(|distance| T::lower(finish(distance, scale)));
        results.enumerate().for_each(|(index, result)| to.set(to_start + index * to_step, result));
    }
    Ok(())
}
