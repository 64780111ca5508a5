//! Means and variances of lanes: the squares are summed around the mean in a second pass.

use et_core::{Args, Element, Number, Result, Scalar, Tensor};

use crate::family::divide::Divide;
use crate::family::opmath::Opmath;
use crate::family::reduce::Folded;

/// Stores the mean of each lane of argument 0 along the dimensions of argument 1, then the variance; if both outputs
/// are the same tensor, the variances remain. The divisor is `count - correction`, but at least 0.
pub fn store<T: Opmath>(args: &Args<'_, '_>, correction: Scalar, [variances, means]: [&Tensor<'_>; 2]) -> Result<()> {
    let (input, folded) = (args.tensor(0)?, Folded::argument(args, 1)?);
    let from = input.input::<T>()?;
    let (to_variances, to_means) = (variances.output::<T>()?, means.output::<T>()?);
    let count = T::Math::from_i64(folded.count(&input.shape())? as i64);
    let divisor = count.minus(correction.cast());
    let divisor = if divisor < T::Math::ZERO { T::Math::ZERO } else { divisor };
    folded.for_each(&input, [variances, means], |lane, [variance_at, mean_at]| {
        let elements = lane.map(|offset| from.get(offset).raise());
        let mean = elements.clone().fold(T::Math::ZERO, T::Math::plus).divided(count);
        let squares = elements.map(|element| element.minus(mean)).map(|distance| distance.times(distance));
        to_means.set(mean_at, T::lower(mean));
        to_variances.set(variance_at, T::lower(squares.fold(T::Math::ZERO, T::Math::plus).divided(divisor)));
        Ok(())
    })
}
