//! `aten::copy`: the second tensor, broadcast to the shape of the first and converted to its type.

use crate::family::{copy, unary};
use crate::prelude::*;

/// `torch.Tensor.copy_`, as a function.
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

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    copy::broadcast::<D>(&args.tensor(0)?, &args.tensor(1)?, &args.tensor(3)?)
}
