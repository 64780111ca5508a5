//! `aten::adaptive_max_pool3d`: max pooling of volumes to a given output size; returns the maximum of each receptive
//! field and the row-major index of the maximum in its channel. NaN is greatest.

use crate::family::pool::values_or_indices;
use crate::pooling::adaptive;
use crate::prelude::*;

/// `torch.nn.functional.adaptive_max_pool3d` with indices.
#[cfg(feature = "catalogue")]
pub const ADAPTIVE_MAX_POOL3D: Operator = Operator {
    schema: "aten::adaptive_max_pool3d.out(Tensor self, int[3] output_size, *, Tensor(a!) out, Tensor(b!) indices) \
             -> (Tensor(a!), Tensor(b!))",
    functional: "aten::adaptive_max_pool3d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "windows that overlap",
            &[Tensor(CaseTensor::float(&[1, 1, 2, 3], &[1.0, 5.0, 3.0, 4.0, 5.0, f64::NAN])), Ints(&[1, 1, 2])],
            &[CaseTensor::float(&[1, 1, 1, 2], &[5.0, f64::NAN]), CaseTensor::long(&[1, 1, 1, 2], &[1.0, 5.0])],
        ),
        Case::exact(
            "more outputs than inputs, of two channels",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 1, 1, 2], &[1.0, 2.0, 4.0, 3.0])), Ints(&[1, 1, 3])],
            &[
                CaseTensor::of(ScalarType::Double, &[1, 2, 1, 1, 3], &[1.0, 2.0, 2.0, 4.0, 4.0, 3.0]),
                CaseTensor::long(&[1, 2, 1, 1, 3], &[0.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
            ],
        ),
        Case::refused(
            "too few dimensions",
            &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Ints(&[1, 1, 1])],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    adaptive::meta(args, 3).map(|values| values_or_indices(values, index))
}

/// The portable kernel for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, indices) = (args.tensor(0)?, args.tensor(2)?, args.tensor(3)?);
    let shape = infer(args, 0)?.shape;
    out.resize(&shape)?;
    indices.resize(&shape)?;
    dispatch!(D, input.scalar_type(), floats, T => adaptive::maxima::<T>(&input, [&out, &indices], 3))
}
