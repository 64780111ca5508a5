//! `aten::max_pool3d_with_indices`: the maximum of each receptive field, and the index of the maximum in its channel.
//! NaN is greatest.

use crate::family::pool::{Pool, maxima};
use crate::family::spatial::per_dim_argument;
use crate::prelude::*;

/// `torch.nn.functional.max_pool3d` with indices.
#[cfg(feature = "catalogue")]
pub const MAX_POOL3D_WITH_INDICES: Operator = Operator {
    schema: "aten::max_pool3d_with_indices.out(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, \
             int[3] dilation=1, bool ceil_mode=False, *, Tensor(a!) out, Tensor(b!) indices) \
             -> (Tensor(a!), Tensor(b!))",
    functional: "aten::max_pool3d_with_indices",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "stride as the kernel",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2, 2], &[1.0, 5.0, 3.0, 4.0, 5.0, 2.0, 8.0, 7.0])),
                Ints(&[2, 1, 2]),
                Ints(&[]),
                Ints(&[0, 0, 0]),
                Ints(&[1, 1, 1]),
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 1, 1, 2, 1], &[5.0, 8.0]), CaseTensor::long(&[1, 1, 1, 2, 1], &[1.0, 6.0])],
        ),
        Case::exact(
            "padding and ceiling without a batch",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 2, 3], &[-1.0, f64::NAN, -3.0, -4.0, -5.0, -6.0])),
                Ints(&[1, 2, 2]),
                Ints(&[1, 2, 2]),
                Ints(&[0, 1, 0]),
                Ints(&[1]),
                Bool(true),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[1, 1, 2, 2], &[f64::NAN, -3.0, -4.0, -6.0]),
                CaseTensor::long(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 5.0]),
            ],
        ),
        Case::refused(
            "more padding than half the kernel",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0; 4])),
                Ints(&[1, 2, 2]),
                Ints(&[]),
                Ints(&[1, 0, 0]),
                Ints(&[1, 1, 1]),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn pool(args: &Args<'_, '_>) -> Result<Pool> {
    Pool::new(args, 3, per_dim_argument(args, 4, 3)?, args.bool(5)?)
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    pool(args)?.meta_with_indices(args, index)
}

/// The portable kernel for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, pool) = (args.tensor(0)?, pool(args)?);
    let (out, indices, shape) = (args.tensor(6)?, args.tensor(7)?, pool.meta(args)?.shape);
    out.resize(&shape)?;
    indices.resize(&shape)?;
    dispatch!(D, input.scalar_type(), numbers, T => maxima::<T>(&pool, &input, [&out, &indices]))
}
