//! Image resizing: where each output position lies between input positions.

use et_core::{Args, Error, Result, Tensor};

use crate::Meta;
use crate::family::opmath::Opmath;
use crate::family::pool::resized;
use crate::family::spatial::{Volume, per_dim_argument};
use crate::math::Math;

/// The sizes of the output, and the scale factors that the caller gave instead of the sizes or in addition.
#[derive(Clone, Copy, Debug)]
pub struct Resize {
    /// The number of spatial dimensions.
    pub dims: usize,
    /// Planes, rows and columns of the output.
    pub sizes: [usize; 3],
    /// Factors from input to output sizes.
    pub factors: [Option<f64>; 3],
}

impl Resize {
    /// Reads the arguments of the `vec` overloads: argument `sizes`, or else argument `factors`, gives the output size.
    pub fn vector(args: &Args<'_, '_>, dims: usize, sizes: usize, factors: usize) -> Result<Self> {
        let input = Volume::new(&args.tensor(0)?, dims)?;
        let mut resize = Self { dims, sizes: [1; 3], factors: [None; 3] };
        match (args.optional_ints(sizes)?, args.optional_doubles(factors)?) {
            (Some(_), None) => resize.sizes = at_least_one(per_dim_argument(args, sizes, dims)?, dims)?,
            (None, Some(factors)) if factors.len() == dims => {
                for (dim, factor) in (3 - dims..).zip(factors.iter()) {
                    resize.factors[dim] = Some(factor);
                    resize.sizes[dim] = scaled(input.extent()[dim], factor)?;
                }
            }
            _ => return Err(Error::InvalidArgument),
        }
        Ok(resize)
    }

    /// Reads the arguments of the remaining overloads: argument 1 is the output size, and optional arguments from
    /// `factors` on are the scale factor of each dimension.
    pub fn plain(args: &Args<'_, '_>, dims: usize, factors: usize) -> Result<Self> {
        let sizes = at_least_one(per_dim_argument(args, 1, dims)?, dims)?;
        let mut resize = Self { dims, sizes, factors: [None; 3] };
        for (position, slot) in (factors..).zip(resize.factors.iter_mut().skip(3 - dims)) {
            *slot = args.optional_scalar(position)?.map(et_core::Scalar::to_f64);
        }
        Ok(resize)
    }

    /// The type of the first argument and the shape of the output. An image without pixels is refused.
    pub fn meta(&self, args: &Args<'_, '_>) -> Result<Meta> {
        let image = Volume::new(&args.tensor(0)?, self.dims)?;
        let batched = args.tensor(0)?.rank() == self.dims + 2;
        if !batched || image.sizes[1..].contains(&0) {
            return Err(Error::InvalidArgument);
        }
        resized(args, self.sizes, self.dims)
    }

    /// The step in the input for a step in the output, computed as PyTorch does: corners on corners, or areas on areas.
    pub fn steps<M: Math>(&self, input: [usize; 3], corners: bool) -> [M; 3] {
        core::array::from_fn(|dim| {
            let (from, to) = (input[dim], self.sizes[dim]);
            match self.factors[dim] {
                _ if corners && to > 1 => number::<M>(from - 1) / number(to - 1),
                _ if corners => M::ZERO,
                Some(factor) if factor > 0.0 => M::from_f64(1.0 / factor),
                _ => number::<M>(from) / number(to),
            }
        })
    }
}

fn at_least_one(mut sizes: [usize; 3], dims: usize) -> Result<[usize; 3]> {
    sizes.iter_mut().take(3 - dims).for_each(|size| *size = 1);
    if sizes.contains(&0) { Err(Error::InvalidArgument) } else { Ok(sizes) }
}

fn scaled(size: usize, factor: f64) -> Result<usize> {
    let scaled = size as f64 * factor;
    if (1.0..2_147_483_648.0).contains(&scaled) { Ok(scaled as usize) } else { Err(Error::InvalidArgument) }
}

/// A size as a number.
pub fn number<M: Math>(size: usize) -> M {
    M::from_i64(size as i64)
}

/// Nearest-neighbour resizing: stores at each output position the input element at or below it. Positions are computed
/// in `float32`, whatever the dtype.
pub fn nearest<T: et_core::Element>(resize: &Resize, input: &Tensor<'_>, out: &Tensor<'_>) -> Result<()> {
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Volume::new(input, resize.dims)?, Volume::new(out, resize.dims)?);
    let (extent, steps) = (image.extent(), resize.steps::<f32>(image.extent(), false));
    out_image.for_each_pixel(|pixel @ [batch, channel, at @ ..]| {
        let source = core::array::from_fn(|dim| match at[dim] {
            at if extent[dim] == resize.sizes[dim] => at,
            at if extent[dim] * 2 == resize.sizes[dim] => at / 2,
            at => ((at as f32 * steps[dim]) as usize).min(extent[dim] - 1),
        });
        to.set(out_image.offset(pixel), from.get(image.channel(batch, channel) + image.pixel(source)));
    });
    Ok(())
}

/// Between which two input positions an output position lies, and the weight of each.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Between<M> {
    positions: [usize; 2],
    weights: [M; 2],
}

impl<M: Math> Between<M> {
    fn new([at, size, outputs]: [usize; 3], step: M, corners: bool) -> Self {
        if size == outputs {
            return Self { positions: [at; 2], weights: [M::ONE, M::ZERO] };
        }
        let half = M::from_f64(0.5);
        let at = if corners { step * number(at) } else { step * (number::<M>(at) + half) - half };
        let at = if at > M::ZERO { at } else { M::ZERO };
        let first = (at.to_i64() as usize).min(size - 1);
        let rest = at - number(first);
        let rest = if rest > M::ONE { M::ONE } else { rest };
        Self { positions: [first, (first + 1).min(size - 1)], weights: [M::ONE - rest, rest] }
    }
}

/// Linear interpolation: stores at each output position the mean of the surrounding input elements, weighted by
/// proximity. `corners` aligns the centres of the outermost elements instead of the outer edges.
pub fn linear<T: Opmath>(resize: &Resize, [input, out]: [&Tensor<'_>; 2], corners: bool) -> Result<()>
where
    T::Math: Math,
{
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Volume::new(input, resize.dims)?, Volume::new(out, resize.dims)?);
    let (extent, steps) = (image.extent(), resize.steps::<T::Math>(image.extent(), corners));
    out_image.for_each_pixel(|pixel @ [batch, channel, at @ ..]| {
        let start = image.channel(batch, channel);
        let [planes, rows, columns] =
            core::array::from_fn(|dim| Between::new([at[dim], extent[dim], resize.sizes[dim]], steps[dim], corners));
        let mean = planes.blend(|plane| {
            rows.blend(|row| columns.blend(|column| from.get(start + image.pixel([plane, row, column])).raise()))
        });
        to.set(out_image.offset(pixel), T::lower(mean));
    });
    Ok(())
}

impl<M: Math> Between<M> {
    /// The weighted mean of the elements at the two positions; equal positions are loaded once.
    fn blend(&self, load: impl Fn(usize) -> M) -> M {
        let first = load(self.positions[0]);
        if self.positions[0] == self.positions[1] {
            return first;
        }
        first * self.weights[0] + load(self.positions[1]) * self.weights[1]
    }
}

/// The weights of the four pixels around a position, by the cubic convolution with a parameter.
/// Source: R. Keys, "Cubic convolution interpolation for digital image processing", 1981.
pub fn cubic_weights<M: Math>(rest: M, parameter: f64) -> [M; 4] {
    let [a, one, two] = [parameter, 1.0, 2.0].map(M::from_f64);
    let near = |x: M| ((a + two) * x - (a + M::from_f64(3.0))) * x * x + one;
    let far = |x: M| ((a * x - M::from_f64(5.0) * a) * x + M::from_f64(8.0) * a) * x - M::from_f64(4.0) * a;
    [far(rest + one), near(rest), near(one - rest), far(two - rest)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_or_corners_lie_on_each_other() {
        let positions = |corners| {
            [0, 1, 2, 3]
                .map(|at| Between::<f32>::new([at, 2, 4], if corners { 1.0 / 3.0 } else { 0.5 }, corners).weights[1])
        };
        assert_eq!(positions(false), [0.0, 0.25, 0.75, 0.25]);
        assert_eq!(positions(true)[0], 0.0);
    }
}
