//! `aten::logical_not`: whether the element is 0.

use crate::family::unary;
use crate::prelude::*;

/// `torch.logical_not`.
#[cfg(feature = "catalogue")]
pub const LOGICAL_NOT: Operator = Operator {
    schema: "aten::logical_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::logical_not",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::boolean,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[4], &[0.0, -0.0, 0.5, f64::NAN]))],
            &[CaseTensor::bool(&[4], &[1.0, 1.0, 0.0, 0.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[2, 1], &[1.0, 0.0]))],
            &[CaseTensor::bool(&[2, 1], &[0.0, 1.0])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[3], &[0.0, -1.0, 256.0]))],
            &[CaseTensor::bool(&[3], &[1.0, 0.0, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    unary::convert::<bool, bool, D>(&args.tensor(0)?, &args.tensor(1)?, |element| !element)
}
