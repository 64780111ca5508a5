//! `aten::_adaptive_avg_pool3d`: average pooling of volumes to a given output size.

use crate::pooling::adaptive;
use crate::prelude::*;

/// `torch.nn.functional.adaptive_avg_pool3d`.
#[cfg(feature = "catalogue")]
pub const ADAPTIVE_AVG_POOL3D: Operator = Operator {
    schema: "aten::_adaptive_avg_pool3d.out(Tensor self, SymInt[3] output_size, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_adaptive_avg_pool3d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "all planes, all rows",
            &[Tensor(CaseTensor::float(&[1, 1, 2, 1, 2], &[1.0, 2.0, 3.0, 5.0])), Ints(&[1, 1, 2])],
            &[CaseTensor::float(&[1, 1, 1, 1, 2], &[2.0, 3.5])],
        ),
        Case::exact(
            "windows that overlap, in double precision",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[1, 3, 1, 1], &[1.0, 2.0, 4.0])), Ints(&[2, 1, 1])],
            &[CaseTensor::of(ScalarType::Double, &[1, 2, 1, 1], &[1.5, 3.0])],
        ),
        Case::refused(
            "an image without planes",
            &[Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])), Ints(&[1, 1, 1])],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    adaptive::meta(args, 3)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => adaptive::means::<T>(&input, &out, 3))
}
