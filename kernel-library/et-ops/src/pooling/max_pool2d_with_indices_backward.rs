//! `aten::max_pool2d_with_indices_backward`: adds each output gradient to the input position of the maximum.

use et_core::Number as _;

use crate::family::fill::fill;
use crate::family::opmath::Opmath;
use crate::family::pool::Pool;
use crate::family::spatial::{Volume, per_dim_argument};
use crate::family::transfer;
use crate::prelude::*;

/// The gradient of `torch.nn.functional.max_pool2d`.
#[cfg(feature = "catalogue")]
pub const MAX_POOL2D_WITH_INDICES_BACKWARD: Operator = Operator {
    schema: "aten::max_pool2d_with_indices_backward.grad_input(Tensor grad_output, Tensor self, int[2] kernel_size, \
             int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices, *, \
             Tensor(a!) grad_input) -> Tensor(a!)",
    functional: "aten::max_pool2d_with_indices_backward",
    path: kernel_path!(grad_input),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: grad_input::<ALL>,
    cases: &[
        Case::exact(
            "windows that overlap add up",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 2], &[0.5, 2.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 3], &[1.0, 9.0, 3.0, 4.0, 5.0, 6.0])),
                Ints(&[2, 2]),
                Ints(&[1, 1]),
                Ints(&[0, 0]),
                Ints(&[1, 1]),
                Bool(false),
                Tensor(CaseTensor::long(&[1, 1, 1, 2], &[1.0, 1.0])),
            ],
            &[CaseTensor::float(&[1, 1, 2, 3], &[0.0, 2.5, 0.0, 0.0, 0.0, 0.0])],
        ),
        Case::exact(
            "two channels without a batch, in double precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 1], &[3.0, 4.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[1.0, 2.0, 4.0, 3.0])),
                Ints(&[1, 2]),
                Ints(&[]),
                Ints(&[0]),
                Ints(&[1]),
                Bool(false),
                Tensor(CaseTensor::long(&[2, 1, 1], &[1.0, 0.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[0.0, 3.0, 4.0, 0.0])],
        ),
        Case::refused(
            "a gradient of another shape than the output",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2], &[0.5, 2.0])),
                Tensor(CaseTensor::float(&[1, 1, 2], &[1.0, 9.0])),
                Ints(&[1, 2]),
                Ints(&[1, 1]),
                Ints(&[0, 0]),
                Ints(&[1, 1]),
                Bool(false),
                Tensor(CaseTensor::long(&[1, 1, 2], &[1.0, 1.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let pool = Pool::of(args, [1, 2, 3, 4], 2, per_dim_argument(args, 5, 2)?, args.bool(6)?)?;
    let (gradient, input, indices) = (args.tensor(0)?, args.tensor(1)?, args.tensor(7)?);
    let shape = pool.shape(&input)?;
    if gradient.shape() != shape || indices.shape() != shape {
        return Err(Error::InvalidArgument);
    }
    transfer::reshaped(args, input.shape())
}

/// The portable kernel for gradient dtypes `D`; indices are `int64` regardless of `D`.
pub fn grad_input<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(8)?;
    fill::<D>(&out, &infer(args, 0)?.shape, et_core::Scalar::Int(0))?;
    dispatch!(D, out.scalar_type(), floats, T => spread::<T>(args, &out))
}

fn spread<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()> {
    let (gradient, indices) = (args.tensor(0)?, args.tensor(7)?);
    let (from, places, to) = (gradient.input::<T>()?, indices.input::<i64>()?, out.output::<T>()?);
    let [image, index_image, out_image] = [Volume::new(&gradient, 2)?, Volume::new(&indices, 2)?, Volume::new(out, 2)?];
    let [_, rows, columns] = out_image.extent();
    let mut outcome = Ok(());
    image.for_each_pixel(|pixel @ [batch, channel, ..]| {
        let place = places.get(index_image.offset(pixel));
        let Some(place) = usize::try_from(place).ok().filter(|place| *place < rows * columns) else {
            outcome = Err(Error::InvalidArgument);
            return;
        };
        let at = out_image.offset([batch, channel, 0, place / columns, place % columns]);
        to.set(at, T::lower(to.get(at).raise().plus(from.get(image.offset(pixel)).raise())));
    });
    outcome
}
