//! `aten::avg_pool2d`: average pooling of images; the mean of each receptive field.

use crate::family::pool::{Pool, means};
use crate::prelude::*;

/// `torch.nn.functional.avg_pool2d`.
#[cfg(feature = "catalogue")]
pub const AVG_POOL2D: Operator = Operator {
    schema: "aten::avg_pool2d.out(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, \
             bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None, *, Tensor(a!) out) \
             -> Tensor(a!)",
    functional: "aten::avg_pool2d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "padding counts",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[4.0, 8.0, 12.0, 16.0])),
                Ints(&[2, 2]),
                Ints(&[2, 2]),
                Ints(&[1, 1]),
                Bool(false),
                Bool(true),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0])],
        ),
        Case::exact(
            "padding does not count, and the last window is cut",
            &[
                Tensor(CaseTensor::float(&[1, 1, 3], &[4.0, 8.0, 12.0])),
                Ints(&[1, 2]),
                Ints(&[1, 2]),
                Ints(&[0, 0]),
                Bool(true),
                Bool(false),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1, 2], &[6.0, 12.0])],
        ),
        Case::exact(
            "another divisor in half precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[1, 1, 2], &[4.0, 8.0])),
                Ints(&[1, 2]),
                Ints(&[]),
                Ints(&[0, 0]),
                Bool(false),
                Bool(true),
                Int(3),
            ],
            &[CaseTensor::of(ScalarType::Half, &[1, 1, 1], &[4.0])],
        ),
        Case::refused(
            "a divisor of 0",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2], &[4.0, 8.0])),
                Ints(&[1, 2]),
                Ints(&[]),
                Ints(&[0, 0]),
                Bool(false),
                Bool(true),
                Int(0),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn pool(args: &Args<'_, '_>) -> Result<Pool> {
    if args.optional_int(6)? == Some(0) {
        return Err(Error::InvalidArgument);
    }
    Pool::new(args, 2, [1; 3], args.bool(4)?)
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    pool(args)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (pool, out) = (pool(args)?, args.tensor(7)?);
    out.settle(|| Ok(pool.meta(args)?.shape))?;
    dispatch!(D, out.scalar_type(), numbers, T => means::<T>(&pool, args, &out))
}
