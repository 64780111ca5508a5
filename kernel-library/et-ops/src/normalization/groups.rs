//! Normalization of groups of channels.

use et_core::{Error, Result, Shape, Tensor};

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::spatial::natural;
use crate::math::Math;
use crate::normalization::normalize::{Normalizer, fits_channels, per_channel};

/// The number of groups. Checks that the number divides the channels of `[n, c, ..]` and that the parameters have an
/// element per channel.
pub fn groups(shape: &Shape, groups: i64, parameters: &[Option<Tensor<'_>>; 2]) -> Result<usize> {
    let (groups, channels) = (natural(groups)?, shape.size(1));
    let divides = shape.rank() >= 2 && groups > 0 && channels.is_multiple_of(groups);
    let fits = parameters.iter().all(|tensor| fits_channels(tensor.as_ref(), channels));
    if divides && fits { Ok(groups) } else { Err(Error::InvalidArgument) }
}

/// Group normalization: normalizes each group of each sample by the group's mean and variance. Calls `keep` with sample
/// and group, and with the mean and the reciprocal standard deviation.
pub fn normalize<T: Opmath>(
    tensors: [&Tensor<'_>; 2],
    parameters: [Option<Tensor<'_>>; 2],
    (groups, epsilon): (usize, f64),
    keep: impl Fn([i64; 2], [T::Math; 2]),
) -> Result<()>
where
    T::Math: Math,
{
    let normalizer = Normalizer::<T>::new(tensors, parameters, epsilon)?;
    let mut block = tensors[0].shape();
    let (samples, channels) = (block.size(0), block.size(1) / groups);
    block.sizes_mut()[..2].copy_from_slice(&[1, channels as i32]);
    let [from, to] = tensors.map(Place::of);
    let places = [from, to, per_channel(parameters[0].as_ref()), per_channel(parameters[1].as_ref())];
    for sample in 0..samples as i64 {
        for group in 0..groups as i64 {
            let at = |place: Place| place.moved(0, sample).moved(1, group * channels as i64);
            keep([sample, group], normalizer.by_own(&block, places.map(at))?);
        }
    }
    Ok(())
}
