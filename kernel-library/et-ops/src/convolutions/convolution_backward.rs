//! `aten::convolution_backward`: the gradients of a convolution's input, weight and bias.
//!
//! A plain and a transposed convolution are the same relation between a larger image, over which the kernel slides, and
//! a smaller image with an element per kernel placement. Only the role of the input differs: the larger image in a
//! plain convolution, the smaller image in a transposed convolution.

use et_core::{Input, Number as _, Output, Scalar};

use crate::family::fill::fill;
use crate::family::opmath::Opmath;
use crate::family::spatial::{Axis, Volume, natural, per_dim_argument, push};
use crate::family::transfer;
use crate::prelude::*;

/// The gradient of `torch.ops.aten.convolution`.
#[cfg(feature = "catalogue")]
pub const CONVOLUTION_BACKWARD: Operator = Operator {
    schema: "aten::convolution_backward.out(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, \
             SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, \
             SymInt groups, bool[3] output_mask, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) \
             -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    functional: "aten::convolution_backward",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "one channel, with padding",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 3], &[1.0, 10.0, 100.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 2], &[2.0, 3.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 2], &[5.0, 7.0])),
                Ints(&[1]),
                Ints(&[1, 1]),
                Ints(&[0, 1]),
                Ints(&[1, 1]),
                Bool(false),
                Ints(&[0, 0]),
                Int(1),
                Bools(&[true, true, true]),
            ],
            &[
                CaseTensor::float(&[1, 1, 1, 2], &[57.0, 570.0]),
                CaseTensor::float(&[1, 1, 1, 2], &[320.0, 32.0]),
                CaseTensor::float(&[1], &[111.0]),
            ],
        ),
        Case::exact(
            "transposed, with groups",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[1.0, 10.0, 2.0, 20.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[1.0, 100.0, 3.0, 5.0])),
                Ints(&[2]),
                Ints(&[1]),
                Ints(&[0]),
                Ints(&[1]),
                Bool(true),
                Ints(&[0]),
                Int(2),
                Bools(&[true, true, true]),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[201.0, 302.0, 37.0, 45.0]),
                CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[21.0, 32.0, 108.0, 130.0]),
                CaseTensor::of(ScalarType::Double, &[2], &[6.0, 15.0]),
            ],
        ),
        Case::refused(
            "channels that do not fit",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 2, 1], &[2.0, 3.0])),
                Tensor(CaseTensor::float(&[1, 1, 1], &[5.0])),
                CaseArgument::None,
                Ints(&[1]),
                Ints(&[0]),
                Ints(&[1]),
                Bool(false),
                Ints(&[0]),
                Int(1),
                Bools(&[true, true, true]),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The meta of gradient `index`: shaped like the input, like the weight, or with an element per channel of the output
/// gradient; empty (shape `[0]`) if the output mask excludes the gradient.
fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    Geometry::new(args)?;
    let mut channels = Shape::SCALAR;
    push(&mut channels, args.tensor(0)?.size(1))?;
    transfer::reshaped(
        args,
        match index {
            _ if !is_wanted(args, index)? => Shape::new(&[0])?,
            0 => args.tensor(1)?.shape(),
            1 => args.tensor(2)?.shape(),
            _ => channels,
        },
    )
}

fn is_wanted(args: &Args<'_, '_>, index: usize) -> Result<bool> {
    Ok(args.bools(10)?.get(index).is_some_and(|wanted| *wanted != 0))
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..3 {
        if let Some(out) = args.optional_tensor(11 + index)? {
            fill::<D>(&out, &infer(args, index)?.shape, Scalar::Int(0))?;
        }
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => gradients::<T>(args))
}

fn gradients<T: Opmath>(args: &Args<'_, '_>) -> Result<()> {
    let geometry = Geometry::new(args)?;
    let (gradient, input, weight) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let (from, pixels, weights) = (gradient.input::<T>()?, input.input::<T>()?, weight.input::<T>()?);
    if let Some(out) = wanted(args, 0)? {
        let (to, out) = (out.output::<T>()?, Volume::new(&out, geometry.dims)?);
        geometry.for_each_product(|at| {
            add(to, out.offset(at.input), product(from, at.gradient_offset, weights, at.weight_offset));
        });
    }
    if let Some(out) = wanted(args, 1)? {
        let (to, out) = (out.output::<T>()?, Volume::new(&out, geometry.dims)?);
        geometry.for_each_product(|at| {
            add(to, out.offset(at.weight), product(from, at.gradient_offset, pixels, at.input_offset));
        });
    }
    if let Some(out) = wanted(args, 2)? {
        let (to, image) = (out.output::<T>()?, Volume::new(&gradient, geometry.dims)?);
        image.for_each_pixel(|pixel| add(to, pixel[1], from.get(image.offset(pixel)).raise()));
    }
    Ok(())
}

fn wanted<'a>(args: &Args<'a, '_>, index: usize) -> Result<Option<et_core::Tensor<'a>>> {
    if is_wanted(args, index)? { args.optional_tensor(11 + index) } else { Ok(None) }
}

fn product<T: Opmath>(left: Input<'_, T>, left_at: usize, right: Input<'_, T>, right_at: usize) -> T::Math {
    left.get(left_at).raise().times(right.get(right_at).raise())
}

fn add<T: Opmath>(to: Output<'_, T>, at: usize, amount: T::Math) {
    to.set(at, T::lower(to.get(at).raise().plus(amount)));
}

/// The shapes and parameters from the arguments. `small` has an element per placement of the kernel on `large`.
struct Geometry {
    axes: [Axis; 3],
    small: Volume,
    large: Volume,
    weight: Volume,
    groups: usize,
    dims: usize,
    transposed: bool,
}

/// A product of the convolution: the positions of its two factors, and the offsets of the gradients that it contributes
/// to.
struct Product {
    input: [usize; 5],
    weight: [usize; 5],
    gradient_offset: usize,
    input_offset: usize,
    weight_offset: usize,
}

impl Geometry {
    fn new(args: &Args<'_, '_>) -> Result<Self> {
        let (gradient, input, weight, transposed) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.bool(7)?);
        let ranks_agree = gradient.rank() == input.rank() && input.rank() == weight.rank();
        let dims = input.rank().checked_sub(2).filter(|dims| ranks_agree && (1..=3).contains(dims));
        let dims = dims.ok_or(Error::InvalidArgument)?;
        let (gradient, input) = (Volume::new(&gradient, dims)?, Volume::new(&input, dims)?);
        let (small, large) = if transposed { (input, gradient) } else { (gradient, input) };
        let (weight, groups) = (Volume::new(&weight, dims)?, natural(args.int(9)?)?);
        let axes = axes(args, &large, &weight, dims)?;
        let geometry = Self { axes, small, large, weight, groups, dims, transposed };
        if geometry.fits() { Ok(geometry) } else { Err(Error::InvalidArgument) }
    }

    fn fits(&self) -> bool {
        let channels = self.small.sizes[1] == self.weight.sizes[0];
        let grouped = self.weight.sizes[1].checked_mul(self.groups) == Some(self.large.sizes[1]);
        let divides = self.small.sizes[1].checked_rem(self.groups) == Some(0);
        channels && grouped && divides && self.small.sizes[0] == self.large.sizes[0]
    }

    fn for_each_product(&self, mut visit: impl FnMut(&Product)) {
        let per_group = (self.small.sizes[1] / self.groups).max(1);
        self.small.for_each_pixel(|small @ [batch, channel, at @ ..]| {
            let first = channel / per_group * self.weight.sizes[1];
            self.for_each_tap(at, |tap, pixel| {
                for within in 0..self.weight.sizes[1] {
                    let large = [batch, first + within, pixel[0], pixel[1], pixel[2]];
                    visit(&self.product(small, large, [channel, within, tap[0], tap[1], tap[2]]));
                }
            });
        });
    }

    /// Visits the kernel positions that lie inside the larger image at a placement, each with the pixel under it.
    fn for_each_tap(&self, at: [usize; 3], mut visit: impl FnMut([usize; 3], [usize; 3])) {
        let along = |dim: usize| {
            let (taps, step) = (self.axes[dim].taps(at[dim]), self.axes[dim].dilation.get());
            (0..taps.count).map(move |index| (taps.first + index, taps.start + index * step))
        };
        for (plane_tap, plane) in along(0) {
            for (row_tap, row) in along(1) {
                along(2).for_each(|(tap, column)| visit([plane_tap, row_tap, tap], [plane, row, column]));
            }
        }
    }

    fn product(&self, small: [usize; 5], large: [usize; 5], weight: [usize; 5]) -> Product {
        let (small_offset, large_offset) = (self.small.offset(small), self.large.offset(large));
        let weight_offset = self.weight.offset(weight);
        if self.transposed {
            Product { input: small, weight, gradient_offset: large_offset, input_offset: small_offset, weight_offset }
        } else {
            Product { input: large, weight, gradient_offset: small_offset, input_offset: large_offset, weight_offset }
        }
    }
}

fn axes(args: &Args<'_, '_>, large: &Volume, weight: &Volume, dims: usize) -> Result<[Axis; 3]> {
    let per_dim = |position| per_dim_argument(args, position, dims);
    let parameters = [per_dim(4)?, per_dim(5)?, per_dim(6)?];
    let mut axes = [Axis::ABSENT; 3];
    for (dim, axis) in axes.iter_mut().enumerate().skip(3 - dims) {
        let [stride, padding, dilation] = parameters.map(|numbers| numbers[dim]);
        *axis = Axis::new(large.sizes[dim + 2], [weight.sizes[dim + 2], stride, padding, dilation])?;
    }
    Ok(axes)
}
