//! `aten::max_pool2d_with_indices`: the maximum of each receptive field, and the index of the maximum in its plane. NaN
//! is greatest.

use crate::family::pool::{Pool, maxima};
use crate::family::spatial::per_dim_argument;
use crate::prelude::*;

/// `torch.nn.functional.max_pool2d` with indices.
#[cfg(feature = "catalogue")]
pub const MAX_POOL2D_WITH_INDICES: Operator = Operator {
    schema: "aten::max_pool2d_with_indices.out(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, \
             int[2] dilation=1, bool ceil_mode=False, *, Tensor(a!) out, Tensor(b!) indices) \
             -> (Tensor(a!), Tensor(b!))",
    functional: "aten::max_pool2d_with_indices",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "stride as the kernel",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 4], &[1.0, 5.0, 3.0, 4.0, 5.0, 2.0, 8.0, 7.0])),
                Ints(&[2, 2]),
                Ints(&[]),
                Ints(&[0, 0]),
                Ints(&[1, 1]),
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 1, 1, 2], &[5.0, 8.0]), CaseTensor::long(&[1, 1, 1, 2], &[1.0, 6.0])],
        ),
        Case::exact(
            "padding, dilation and ceiling without a batch",
            &[
                Tensor(CaseTensor::float(&[1, 3, 3], &[-1.0, -2.0, -3.0, -4.0, f64::NAN, -6.0, -7.0, -8.0, -9.0])),
                Ints(&[2]),
                Ints(&[2]),
                Ints(&[1]),
                Ints(&[2]),
                Bool(true),
            ],
            &[
                CaseTensor::float(&[1, 2, 2], &[f64::NAN, f64::NAN, f64::NAN, f64::NAN]),
                CaseTensor::long(&[1, 2, 2], &[4.0, 4.0, 4.0, 4.0]),
            ],
        ),
        Case::exact(
            "integers",
            &[
                Tensor(CaseTensor::long(&[1, 1, 3], &[3.0, 1.0, 2.0])),
                Ints(&[1, 2]),
                Ints(&[1, 1]),
                Ints(&[0, 0]),
                Ints(&[1, 1]),
                Bool(false),
            ],
            &[CaseTensor::long(&[1, 1, 2], &[3.0, 2.0]), CaseTensor::long(&[1, 1, 2], &[0.0, 2.0])],
        ),
        Case::refused(
            "more padding than half the kernel",
            &[
                Tensor(CaseTensor::float(&[1, 2, 2], &[1.0; 4])),
                Ints(&[2, 2]),
                Ints(&[]),
                Ints(&[2, 2]),
                Ints(&[1, 1]),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn pool(args: &Args<'_, '_>) -> Result<Pool> {
    Pool::new(args, 2, per_dim_argument(args, 4, 2)?, args.bool(5)?)
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    pool(args)?.meta_with_indices(args, index)
}

/// The portable kernel for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, pool) = (args.tensor(0)?, pool(args)?);
    let (out, indices) = (args.tensor(6)?, args.tensor(7)?);
    let shape = || Ok(pool.meta(args)?.shape);
    out.settle(shape)?;
    indices.settle(shape)?;
    dispatch!(D, input.scalar_type(), numbers, T => maxima::<T>(&pool, &input, [&out, &indices]))
}
