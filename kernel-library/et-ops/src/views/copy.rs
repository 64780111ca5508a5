//! `aten::copy` and `aten::copy_`: the second tensor, broadcast to the shape of the first and cast to the dtype of the
//! first.

use crate::family::{copy, unary};
use crate::prelude::*;

/// `torch.Tensor.copy_`, as a function.
#[cfg(feature = "catalogue")]
pub const COPY: Operator = Operator {
    schema: "aten::copy.out(Tensor self, Tensor src, bool non_blocking=False, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::copy",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[0.0; 4])),
                Tensor(CaseTensor::float(&[2], &[1.5, f64::NAN])),
                Bool(false),
            ],
            &[CaseTensor::float(&[2, 2], &[1.5, f64::NAN, 1.5, f64::NAN])],
        ),
        Case::exact(
            "floats to integers",
            &[
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[0.0, 0.0])),
                Tensor(CaseTensor::float(&[2], &[2.9, -2.9])),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Int, &[2], &[2.0, -2.0])],
        ),
        Case::exact(
            "integers to halves",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[0.0, 0.0])),
                Tensor(CaseTensor::long(&[2], &[1.0, 2049.0])),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[1.0, 2048.0])],
        ),
        Case::refused(
            "a source that is larger",
            &[
                Tensor(CaseTensor::float(&[2], &[0.0, 0.0])),
                Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.Tensor.copy_`: writes the first tensor.
#[cfg(feature = "catalogue")]
pub const COPY_IN_PLACE: Operator = Operator {
    schema: "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    functional: "aten::copy_",
    path: kernel_path!(in_place),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: in_place::<ALL>,
    cases: &[
        Case::exact(
            "broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[1.0; 4])),
                Tensor(CaseTensor::float(&[2, 1], &[1.5, f64::NAN])),
                Bool(false),
            ],
            &[CaseTensor::float(&[2, 2], &[1.5, 1.5, f64::NAN, f64::NAN])],
        ),
        Case::exact(
            "integers to halves",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[0.0, 0.0])),
                Tensor(CaseTensor::long(&[2], &[1.0, 2049.0])),
                Bool(true),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[1.0, 2048.0])],
        ),
        Case::refused(
            "a source that is larger",
            &[Tensor(CaseTensor::float(&[1], &[0.0])), Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    copy::broadcast::<D>(&args.tensor(0)?, &args.tensor(1)?, &args.tensor(3)?)
}

/// The portable kernel of `copy_` for the types in `D`.
pub fn in_place<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (written, source) = (args.tensor(0)?, args.tensor(1)?);
    copy::broadcast::<D>(&written, &source, &written)
}
