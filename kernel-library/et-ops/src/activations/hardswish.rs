//! `aten::hardswish`: `x` times `x + 3` between 0 and 6, divided by 6.

use crate::family::bound::bound;
use crate::family::real::{self, Function};
use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.hardswish`.
#[cfg(feature = "catalogue")]
pub const HARDSWISH: Operator = Operator {
    schema: "aten::hardswish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::hardswish",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[12],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[12],
                &[-0.0, -0.0, -0.0, -0.20833333, 0.0, 0.13541667, 3.0, 5.0, 90.0, f64::NAN, f64::INFINITY, f64::NAN],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(
                ScalarType::Double,
                &[9, 1],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0],
            ))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[9, 1],
                &[-0.0, -0.0, -0.0, -0.20833333333333334, 0.0, 0.13541666666666666, 3.0, 5.0, 90.0],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[9], &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[9],
                &[-0.0, -0.0, -0.0, -0.20837402, 0.0, 0.13537598, 3.0, 5.0, 90.0],
            )],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(
                ScalarType::BFloat16,
                &[9],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0],
            ))],
            &[CaseTensor::of(
                ScalarType::BFloat16,
                &[9],
                &[-0.0, -0.0, -0.0, -0.20800781, 0.0, 0.13574219, 3.0, 5.0, 90.0],
            )],
        ),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::activate::<Hardswish, D>(args)
}

struct Hardswish;

impl Function for Hardswish {
    fn of<M: Math>(x: M) -> M {
        let shifted = x + M::from_i32(3);
        x * bound(shifted, [M::ZERO, M::from_i32(6)]) / M::from_i32(6)
    }
}
