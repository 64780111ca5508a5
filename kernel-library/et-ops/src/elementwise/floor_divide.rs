//! `aten::floor_divide`: quotients rounded towards minus infinity, broadcast and promoted.

use crate::family::binary;
use crate::family::division::{self, Rounding};
use crate::prelude::*;

/// `torch.floor_divide`.
#[cfg(feature = "catalogue")]
pub const FLOOR_DIVIDE: Operator = Operator {
    schema: "aten::floor_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::floor_divide",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats and special values",
            &[
                Tensor(CaseTensor::float(&[7], &[5.0, -5.0, 1.0, -1.0, 0.0, f64::NAN, f64::INFINITY])),
                Tensor(CaseTensor::float(&[7], &[3.0, 3.0, 0.0, 0.0, 0.0, 1.0, 2.0])),
            ],
            &[CaseTensor::float(&[7], &[1.0, -2.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::NAN, f64::NAN])],
        ),
        Case::exact(
            "integers, broadcast",
            &[
                Tensor(CaseTensor::of(ScalarType::Int, &[2, 1], &[7.0, -7.0])),
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[3.0, -3.0])),
            ],
            &[CaseTensor::of(ScalarType::Int, &[2, 2], &[2.0, -3.0, -3.0, 2.0])],
        ),
        Case::exact(
            "integers and floats promote",
            &[
                Tensor(CaseTensor::long(&[2], &[7.0, -7.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[2.5, 2.5])),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[2.0, -3.0])],
        ),
        Case::refused(
            "integers by 0",
            &[Tensor(CaseTensor::long(&[1], &[1.0])), Tensor(CaseTensor::long(&[1], &[0.0]))],
            Error::InvalidArgument,
        ),
        Case::refused(
            "booleans",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Tensor(CaseTensor::bool(&[1], &[1.0]))],
            Error::InvalidType,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    division::tensors::<D>(args, Rounding::Floor, 2)
}
