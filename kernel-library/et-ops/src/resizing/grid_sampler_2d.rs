//! `aten::grid_sampler_2d`: pixels of an image at positions that a grid gives, from -1 at the left or upper edge to 1.

use et_core::Input;

use crate::family::opmath::Opmath;
use crate::family::spatial::Volume;
use crate::family::transfer;
use crate::math::Math;
use crate::prelude::*;
use crate::resizing::resize::{cubic_weights, number};

/// `torch.nn.functional.grid_sample` of images.
#[cfg(feature = "catalogue")]
pub const GRID_SAMPLER_2D: Operator = Operator {
    schema: "aten::grid_sampler_2d.out(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, \
             bool align_corners, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::grid_sampler_2d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "bilinear with zeros around",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::float(&[1, 1, 3, 2], &[0.0, 0.0, -1.0, -1.0, 5.0, 0.0])),
                Int(0),
                Int(0),
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 1, 1, 3], &[2.5, 0.25, 0.0])],
        ),
        Case::exact(
            "nearest within the border",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 1, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 1, 2], &[0.9, 0.0, -7.0, 3.0])),
                Int(1),
                Int(1),
                Bool(true),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 2, 2, 1], &[2.0, 1.0, 4.0, 3.0])],
        ),
        Case::near(
            "bicubic in a mirror",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 4], &[1.0, 5.0, 2.0, 8.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[0.0, 0.0, -1.5, 0.0])),
                Int(2),
                Int(2),
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 1, 1, 2], &[3.3125, 3.28125])],
        ),
        Case::refused(
            "positions with three coordinates",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 3], &[0.0; 3])),
                Int(0),
                Int(0),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, grid) = (args.tensor(0)?, args.tensor(1)?);
    let (shape, grid_shape) = (input.shape(), grid.shape());
    let (&[batch, channels, height, width], &[grid_batch, rows, columns, 2]) = (shape.sizes(), grid_shape.sizes())
    else {
        return Err(Error::InvalidArgument);
    };
    if batch != grid_batch || height == 0 || width == 0 || input.scalar_type() != grid.scalar_type() {
        return Err(Error::InvalidArgument);
    }
    transfer::reshaped(args, Shape::new(&[batch, channels, rows, columns])?)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(5)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => sample::<T>(args, &out))
}

fn sample<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()>
where
    T::Math: Math,
{
    let (input, grid, mode) = (args.tensor(0)?, args.tensor(1)?, args.int(2)?);
    let (from, positions, to) = (input.input::<T>()?, grid.input::<T>()?, out.output::<T>()?);
    let (image, out_image, grid) = (Volume::new(&input, 2)?, Volume::new(out, 2)?, grid.strides());
    let border = Border { outside: Outside::new(args.int(3)?)?, corners: args.bool(4)? };
    let size = [image.sizes[3], image.sizes[4]];
    if !(0..=2).contains(&mode) {
        return Err(Error::InvalidArgument);
    }
    out_image.for_each_pixel(|pixel @ [batch, channel, _, row, column]| {
        let at = batch * grid[0] + row * grid[1] + column * grid[2];
        let [x, y] = [positions.get(at).raise(), positions.get(at + grid[3]).raise()];
        let at = [border.position(y, size[0]), border.position(x, size[1])];
        let plane = Plane { from, image, start: image.channel(batch, channel), border };
        to.set(
            out_image.offset(pixel),
            T::lower(match mode {
                0 => plane.linear(at),
                1 => plane.nearest(at),
                _ => plane.cubic(at),
            }),
        );
    });
    Ok(())
}

/// How positions outside the image are padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    Zeros,
    Border,
    Reflection,
}

impl Outside {
    pub(crate) fn new(mode: i64) -> Result<Self> {
        match mode {
            0 => Ok(Self::Zeros),
            1 => Ok(Self::Border),
            2 => Ok(Self::Reflection),
            _ => Err(Error::InvalidArgument),
        }
    }
}

/// How positions map to pixels: -1 and 1 are the centres of the outermost pixels (`corners`), or their outer edges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Border {
    /// What lies outside.
    pub outside: Outside,
    /// Whether the corners are centres.
    pub corners: bool,
}

impl Border {
    /// The number of the pixel at a position from -1 to 1, with fractions.
    pub(crate) fn position<M: Math>(self, at: M, size: usize) -> M {
        let (size, half) = (number::<M>(size), M::from_f64(0.5));
        if self.corners { (at + M::ONE) * half * (size - M::ONE) } else { ((at + M::ONE) * size - M::ONE) * half }
    }

    /// Maps position `at` into the image; with zero padding the position is unchanged.
    pub(crate) fn inside<M: Math>(self, at: M, size: usize) -> M {
        match self.outside {
            Outside::Zeros => at,
            Outside::Border => clip(at, size),
            Outside::Reflection => clip(self.reflected(at, size), size),
        }
    }

    /// In mirrors at the outermost centres or the outer edges.
    fn reflected<M: Math>(self, at: M, size: usize) -> M {
        let low = if self.corners { M::ZERO } else { M::from_f64(-0.5) };
        let span = number::<M>(if self.corners { size - 1 } else { size });
        if span == M::ZERO {
            return M::ZERO;
        }
        let distance = if at < low { low - at } else { at - low };
        let flips = (distance / span).floor();
        let rest = distance - flips * span;
        let is_even = flips == M::from_f64(2.0) * (flips * M::from_f64(0.5)).floor();
        if is_even { rest + low } else { span - rest + low }
    }
}

/// Clamps a position to the first and the last pixel. NaN becomes the first pixel.
fn clip<M: Math>(at: M, size: usize) -> M {
    let last = number::<M>(size - 1);
    if at > last {
        last
    } else if at > M::ZERO {
        at
    } else {
        M::ZERO
    }
}

/// A channel of an image.
pub(crate) struct Plane<'a, T> {
    /// The elements of the whole tensor.
    pub from: Input<'a, T>,
    /// The layout of the tensor.
    pub image: Volume,
    /// The offset of the first pixel.
    pub start: usize,
    /// What lies outside.
    pub border: Border,
}

impl<T: Opmath> Plane<'_, T>
where
    T::Math: Math,
{
    /// The pixel at an integer position; 0 outside the image.
    fn pixel(&self, [row, column]: [T::Math; 2]) -> T::Math {
        let index = |at: T::Math, size: usize| (at >= T::Math::ZERO && at < number(size)).then(|| index_of(at));
        match (index(row, self.image.sizes[3]), index(column, self.image.sizes[4])) {
            (Some(row), Some(column)) => self.from.get(self.start + self.image.pixel([0, row, column])).raise(),
            _ => T::Math::ZERO,
        }
    }

    fn inside(&self, [row, column]: [T::Math; 2]) -> [T::Math; 2] {
        let [_, rows, columns] = self.image.extent();
        [self.border.inside(row, rows), self.border.inside(column, columns)]
    }

    fn nearest(&self, at: [T::Math; 2]) -> T::Math {
        self.pixel(self.inside(at).map(Math::round_ties_even))
    }

    /// The blend of the four pixels around a position.
    pub(crate) fn linear(&self, at: [T::Math; 2]) -> T::Math {
        let at = self.inside(at);
        let first = at.map(Math::floor);
        let weights = [0, 1].map(|dim| [T::Math::ONE - (at[dim] - first[dim]), at[dim] - first[dim]]);
        self.blend(first, weights, T::Math::ZERO, |plane, at| plane.pixel(at))
    }

    fn cubic(&self, at: [T::Math; 2]) -> T::Math {
        let first = at.map(Math::floor);
        let weights = [0, 1].map(|dim| cubic_weights(at[dim] - first[dim], -0.75));
        self.blend(first, weights, T::Math::ONE, |plane, at| plane.pixel(plane.inside(at)))
    }

    /// The weighted sum of the pixels from `before` before `first` on.
    fn blend<const N: usize>(
        &self,
        first: [T::Math; 2],
        [rows, columns]: [[T::Math; N]; 2],
        before: T::Math,
        pixel: impl Fn(&Self, [T::Math; 2]) -> T::Math,
    ) -> T::Math {
        let mut sum = T::Math::ZERO;
        for (row, row_weight) in rows.into_iter().enumerate() {
            let mut row_sum = T::Math::ZERO;
            for (column, weight) in columns.into_iter().enumerate() {
                let at = [first[0] - before + number(row), first[1] - before + number(column)];
                row_sum = row_sum + pixel(self, at) * weight;
            }
            sum = sum + row_sum * row_weight;
        }
        sum
    }
}

/// The number of a whole position that is known to be small and not negative.
pub(crate) fn index_of<M: Math>(at: M) -> usize {
    at.to_i64() as usize
}
