//! `aten::grid_sampler_3d`: elements of a volume at positions that a grid gives, from -1 at the near edge to 1.

use et_core::Input;

use crate::family::opmath::Opmath;
use crate::family::spatial::Volume;
use crate::family::transfer;
use crate::math::Math;
use crate::prelude::*;
use crate::resizing::grid_sampler_2d::{Border, Outside, index_of};
use crate::resizing::resize::number;

/// `torch.nn.functional.grid_sample` of volumes, in modes `bilinear` (0) and `nearest` (1).
#[cfg(feature = "catalogue")]
pub const GRID_SAMPLER_3D: Operator = Operator {
    schema: "aten::grid_sampler_3d.out(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, \
             bool align_corners, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::grid_sampler_3d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "linear with zeros around",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 3, 3], &[0.0, 0.0, 0.0, -1.0, -1.0, -1.0, 5.0, 0.0, 0.0])),
                Int(0),
                Int(0),
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 1, 1, 1, 3], &[4.5, 0.125, 0.0])],
        ),
        Case::exact(
            "nearest within the border",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 1, 1, 2], &[1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 1, 2, 3], &[0.9, 0.0, 0.0, -7.0, 3.0, 1.0])),
                Int(1),
                Int(1),
                Bool(true),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 1, 1, 2], &[2.0, 1.0])],
        ),
        Case::refused(
            "positions with two coordinates",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 1, 2], &[0.0; 2])),
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
    let (&[batch, channels, depth, height, width], &[grid_batch, planes, rows, columns, 3]) =
        (shape.sizes(), grid_shape.sizes())
    else {
        return Err(Error::InvalidArgument);
    };
    let fits = batch == grid_batch && depth * height * width != 0 && input.scalar_type() == grid.scalar_type();
    if !fits || !(0..=1).contains(&args.int(2)?) {
        return Err(Error::InvalidArgument);
    }
    transfer::reshaped(args, Shape::new(&[batch, channels, planes, rows, columns])?)
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
    let (input, grid, is_nearest) = (args.tensor(0)?, args.tensor(1)?, args.int(2)? == 1);
    let (from, positions, to) = (input.input::<T>()?, grid.input::<T>()?, out.output::<T>()?);
    let (volume, out_volume, steps) = (Volume::new(&input, 3)?, Volume::new(out, 3)?, grid.strides());
    let border = Border { outside: Outside::new(args.int(3)?)?, corners: args.bool(4)? };
    let extent = volume.extent();
    out_volume.for_each_pixel(|pixel @ [batch, channel, plane, row, column]| {
        let at = batch * steps[0] + plane * steps[1] + row * steps[2] + column * steps[3];
        let position = |dim: usize| {
            // The grid lists columns first.
            let given = positions.get(at + (2 - dim) * steps[4]).raise();
            border.inside(border.position(given, extent[dim]), extent[dim])
        };
        let block = Block { from, volume, start: volume.channel(batch, channel) };
        let at = [position(0), position(1), position(2)];
        let value = if is_nearest { block.element(at.map(Math::round_ties_even)) } else { block.linear(at) };
        to.set(out_volume.offset(pixel), T::lower(value));
    });
    Ok(())
}

/// A channel of a volume.
struct Block<'a, T> {
    from: Input<'a, T>,
    volume: Volume,
    start: usize,
}

impl<T: Opmath> Block<'_, T>
where
    T::Math: Math,
{
    /// The element at an integer position; 0 outside.
    fn element(&self, at: [T::Math; 3]) -> T::Math {
        let extent = self.volume.extent();
        if (0..3).any(|dim| !(at[dim] >= T::Math::ZERO && at[dim] < number(extent[dim]))) {
            return T::Math::ZERO;
        }
        self.from.get(self.start + self.volume.pixel(at.map(index_of))).raise()
    }

    /// The mean of the eight elements around, weighted by proximity.
    fn linear(&self, at: [T::Math; 3]) -> T::Math {
        let first = at.map(Math::floor);
        (0..8_usize).fold(T::Math::ZERO, |sum, corner| {
            let is_far = |dim: usize| corner >> dim & 1 == 1;
            let place = core::array::from_fn(|dim| if is_far(dim) { first[dim] + T::Math::ONE } else { first[dim] });
            let weight = (0..3).fold(T::Math::ONE, |weight, dim| {
                let rest = at[dim] - first[dim];
                weight * if is_far(dim) { rest } else { T::Math::ONE - rest }
            });
            sum + self.element(place) * weight
        })
    }
}
