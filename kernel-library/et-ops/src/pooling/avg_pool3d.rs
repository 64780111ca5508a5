//! `aten::avg_pool3d`: average pooling of volumes; the mean of each receptive field.

use crate::family::pool::{Pool, means};
use crate::prelude::*;

/// `torch.nn.functional.avg_pool3d`.
#[cfg(feature = "catalogue")]
pub const AVG_POOL3D: Operator = Operator {
    schema: "aten::avg_pool3d.out(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, \
             bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None, *, Tensor(a!) out) \
             -> Tensor(a!)",
    functional: "aten::avg_pool3d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "padding counts",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 2, 2], &[8.0, 16.0, 24.0, 32.0])),
                Ints(&[1, 2, 2]),
                Ints(&[1, 2, 2]),
                Ints(&[0, 1, 1]),
                Bool(false),
                Bool(true),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1, 1, 2, 2], &[2.0, 4.0, 6.0, 8.0])],
        ),
        Case::exact(
            "padding does not count, and the last window is cut",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 1, 3], &[4.0, 8.0, 12.0, 6.0, 10.0, 14.0])),
                Ints(&[2, 1, 2]),
                Ints(&[]),
                Ints(&[0]),
                Bool(true),
                Bool(false),
                CaseArgument::None,
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 1, 2], &[7.0, 13.0])],
        ),
        Case::refused(
            "an image without planes",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2], &[4.0, 8.0])),
                Ints(&[1, 1, 1]),
                Ints(&[]),
                Ints(&[0, 0, 0]),
                Bool(false),
                Bool(true),
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn pool(args: &Args<'_, '_>) -> Result<Pool> {
    if args.optional_int(6)? == Some(0) {
        return Err(Error::InvalidArgument);
    }
    Pool::new(args, 3, [1; 3], args.bool(4)?)
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
