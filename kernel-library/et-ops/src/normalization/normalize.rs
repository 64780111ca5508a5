//! Normalization: elements less their mean, divided by their standard deviation, then scaled and shifted.

use et_core::{Element, Input, Number, Output, Result, Shape, Tensor};

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::math::Math;

/// The tensors of a normalization.
pub struct Normalizer<'a, T> {
    from: Input<'a, T>,
    to: Output<'a, T>,
    weight: Option<Input<'a, T>>,
    bias: Option<Input<'a, T>>,
    epsilon: f64,
}

impl<'a, T: Opmath> Normalizer<'a, T>
where
    T::Math: Math,
{
    /// Weight and bias may be absent; `epsilon` is added to variances.
    pub fn new([input, out]: [&Tensor<'a>; 2], [weight, bias]: [Option<Tensor<'a>>; 2], epsilon: f64) -> Result<Self> {
        let elements = |tensor: Option<Tensor<'a>>| tensor.map(|tensor| tensor.input::<T>()).transpose();
        let (weight, bias) = (elements(weight)?, elements(bias)?);
        Ok(Self { from: input.input()?, to: out.output()?, weight, bias, epsilon })
    }

    /// Normalizes the elements of a box by the box's mean and variance. Returns the mean and the reciprocal standard
    /// deviation. `places` lay out the box in the input, the output, the weight and the bias.
    pub fn by_own(&self, shape: &Shape, places: [Place; 4]) -> Result<[T::Math; 2]> {
        let elements = Walk::over(shape, [places[0]])?.map(|[at]| self.from.get(at).raise());
        let count = T::Math::from_i64(shape.numel()? as i64);
        let mean = elements.clone().fold(T::Math::ZERO, T::Math::plus) / count;
        let squares = elements.map(|element| element - mean).map(|distance| distance * distance);
        let statistics = [mean, self.reciprocal_deviation(squares.fold(T::Math::ZERO, T::Math::plus) / count)];
        self.by(shape, places, statistics)?;
        Ok(statistics)
    }

    /// Normalizes the elements of a box by a mean and the reciprocal of a standard deviation.
    pub fn by(&self, shape: &Shape, places: [Place; 4], [mean, reciprocal]: [T::Math; 2]) -> Result<()> {
        Walk::over(shape, places)?.for_each(|[from, to, weight, bias]| {
            let normal = (self.from.get(from).raise() - mean) * reciprocal;
            let scaled = self.weight.map_or(normal, |elements| normal * elements.get(weight).raise());
            let shifted = self.bias.map_or(scaled, |elements| scaled + elements.get(bias).raise());
            self.to.set(to, T::lower(shifted));
        });
        Ok(())
    }

    /// The reciprocal of the standard deviation that belongs to a variance.
    pub fn reciprocal_deviation(&self, variance: T::Math) -> T::Math {
        T::Math::ONE / (variance + T::Math::from_f64(self.epsilon)).sqrt()
    }
}

/// The layout of a per-channel vector in a box whose dimension 1 is the channel dimension.
pub fn per_channel(tensor: Option<&Tensor<'_>>) -> Place {
    let mut place = Place { start: 0, strides: [0; et_core::MAX_RANK] };
    place.strides[1] = tensor.map_or(0, |tensor| tensor.strides()[0]);
    place
}

/// Whether a tensor is absent or has an element per channel.
pub fn fits_channels(tensor: Option<&Tensor<'_>>, channels: usize) -> bool {
    tensor.is_none_or(|tensor| tensor.shape().rank() == 1 && tensor.shape().size(0) == channels)
}
