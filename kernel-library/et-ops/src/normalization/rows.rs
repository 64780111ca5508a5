//! Normalization over trailing dimensions. Arguments start with `input, normalized_shape`.

use et_core::{Args, Error, Result, Shape, Tensor};

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::math::Math;
use crate::normalization::normalize::Normalizer;

/// The number of dimensions before the normalized dimensions. Checks that `normalized_shape`, and the optional tensors
/// at the positions `parameters`, have the sizes of the trailing dimensions.
pub fn leading(args: &Args<'_, '_>, parameters: &[usize]) -> Result<usize> {
    let (shape, normalized) = (args.tensor(0)?.shape(), args.ints(1)?);
    let leading = shape.rank().checked_sub(normalized.len()).ok_or(Error::InvalidArgument)?;
    let trailing = &shape.sizes()[leading..];
    let equal =
        !normalized.is_empty() && trailing.iter().zip(normalized.iter()).all(|(size, it)| i64::from(*size) == *it);
    for position in parameters {
        if args.optional_tensor(*position)?.is_some_and(|tensor| tensor.shape().sizes() != trailing) {
            return Err(Error::InvalidArgument);
        }
    }
    if equal { Ok(leading) } else { Err(Error::InvalidArgument) }
}

/// The shape with every dimension after the first `leading` set to 1: a position per sample.
pub fn samples(shape: &Shape, leading: usize) -> Shape {
    let mut samples = *shape;
    samples.sizes_mut()[leading..].fill(1);
    samples
}

/// The shape with the first `leading` dimensions set to 1: a single sample.
pub fn sample(shape: &Shape, leading: usize) -> Shape {
    let mut sample = *shape;
    sample.sizes_mut()[..leading].fill(1);
    sample
}

/// Layer normalization of each sample by the sample's mean and variance: arguments
/// `input, normalized_shape, weight, bias, eps`. Calls `keep` with the mean and the reciprocal standard deviation of
/// each sample, in logical order.
pub fn normalize<T: Opmath>(args: &Args<'_, '_>, out: &Tensor<'_>, mut keep: impl FnMut([T::Math; 2])) -> Result<()>
where
    T::Math: Math,
{
    let (input, leading) = (args.tensor(0)?, leading(args, &[2, 3])?);
    let parameters = [args.optional_tensor(2)?, args.optional_tensor(3)?];
    let normalizer = Normalizer::<T>::new([&input, out], parameters, args.double(4)?)?;
    let (shape, [from, to]) = (input.shape(), [&input, out].map(Place::of));
    let [weight, bias] = parameters.map(|tensor| tensor.map(|tensor| Place::broadcast(&tensor, &shape)).transpose());
    let (weight, bias, one) = (weight?.unwrap_or(from), bias?.unwrap_or(from), sample(&shape, leading));
    for [from_at, to_at] in Walk::over(&samples(&shape, leading), [from, to])? {
        keep(normalizer.by_own(&one, [from.at(from_at), to.at(to_at), weight, bias])?);
    }
    Ok(())
}
