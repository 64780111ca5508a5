//! Antialiased resizing: each output position is a weighted mean of the input positions that it covers.

use core::ops::Range;

use et_core::Result;

use crate::family::opmath::Opmath;
use crate::family::spatial::Volume;
use crate::math::Math;
use crate::resizing::resize::{Resize, cubic_weights, number};

/// How weights fall with the distance from the centre.
#[derive(Clone, Copy, Debug)]
pub enum Filter {
    /// Linearly.
    Linear,
    /// By the cubic convolution with parameter -0.5.
    Cubic,
}

impl Filter {
    /// The distance from which on the weight is 0.
    const fn radius(self) -> f64 {
        match self {
            Self::Linear => 1.0,
            Self::Cubic => 2.0,
        }
    }

    fn weight<M: Math>(self, distance: M) -> M {
        match self {
            Self::Linear if distance < M::ONE => M::ONE - distance,
            Self::Cubic if distance < M::ONE => cubic_weights(distance, -0.5)[1],
            Self::Cubic if distance < M::TWO => cubic_weights(distance - M::ONE, -0.5)[0],
            _ => M::ZERO,
        }
    }
}

/// Stores at each output position the weighted mean of the input positions that it covers.
pub fn means<T: Opmath>(
    resize: &Resize,
    [input, out]: [&et_core::Tensor<'_>; 2],
    corners: bool,
    filter: Filter,
) -> Result<()>
where
    T::Math: Math,
{
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Volume::new(input, 2)?, Volume::new(out, 2)?);
    let (extent, steps) = (image.extent(), resize.steps::<T::Math>(image.extent(), corners));
    out_image.for_each_pixel(|pixel @ [batch, channel, _, row, column]| {
        let start = image.channel(batch, channel);
        let rows = Cover::new(row, extent[1], steps[1], filter);
        let columns = Cover::new(column, extent[2], steps[2], filter);
        let mean = rows.mean(|row| columns.mean(|column| from.get(start + image.pixel([0, row, column])).raise()));
        to.set(out_image.offset(pixel), T::lower(mean));
    });
    Ok(())
}

/// The input positions that an output position covers.
struct Cover<M> {
    inside: Range<usize>,
    centre: M,
    /// The reciprocal of the step in the input, at most 1.
    slope: M,
    filter: Filter,
}

impl<M: Math> Cover<M> {
    fn new(at: usize, size: usize, step: M, filter: Filter) -> Self {
        let half = M::from_f64(0.5);
        let step_or_one = if step > M::ONE { step } else { M::ONE };
        let width = step_or_one * M::from_f64(filter.radius());
        let centre = step * (number::<M>(at) + half);
        let first = (centre - width + half).to_i64().max(0) as usize;
        let end = ((centre + width + half).to_i64().max(0) as usize).min(size);
        Self { inside: first..end, centre, slope: M::ONE / step_or_one, filter }
    }

    fn weight(&self, position: usize) -> M {
        let distance = (number::<M>(position) - self.centre + M::from_f64(0.5)) * self.slope;
        self.filter.weight(if distance < M::ZERO { distance.negated() } else { distance })
    }

    fn mean(&self, load: impl Fn(usize) -> M) -> M {
        let (sum, total) = self.inside.clone().fold((M::ZERO, M::ZERO), |(sum, total), position| {
            let weight = self.weight(position);
            (sum + load(position) * weight, total + weight)
        });
        if total == M::ZERO { M::ZERO } else { sum / total }
    }
}
