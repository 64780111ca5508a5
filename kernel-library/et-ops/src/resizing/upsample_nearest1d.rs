//! `aten::upsample_nearest1d`: signals in another size, each element copied from the nearest.

use crate::prelude::*;
use crate::resizing::resize::{Resize, nearest};

/// `torch.nn.functional.interpolate` with mode `nearest` of signals.
#[cfg(feature = "catalogue")]
pub const UPSAMPLE_NEAREST1D: Operator = Operator {
    schema: "aten::upsample_nearest1d.out(Tensor self, SymInt[1] output_size, float? scales=None, *, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::upsample_nearest1d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Byte),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "to a size",
            &[Tensor(CaseTensor::float(&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0])), Ints(&[3]), CaseArgument::None],
            &[CaseTensor::float(&[1, 2, 3], &[1.0, 1.0, 2.0, 3.0, 3.0, 4.0])],
        ),
        Case::exact(
            "a factor that says where elements are",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 3], &[1.0, 2.0, 3.0])), Ints(&[4]), Double(1.6)],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 4], &[1.0, 1.0, 2.0, 2.0])],
        ),
        Case::refused(
            "no element left",
            &[Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])), Ints(&[0]), CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Resize::plain(args, 1, 2)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, resize) = (args.tensor(0)?, args.tensor(3)?, Resize::plain(args, 1, 2)?);
    out.resize(&resize.meta(args)?.shape)?;
    dispatch!(D, out.scalar_type(), numbers, T => nearest::<T>(&resize, &input, &out))
}
