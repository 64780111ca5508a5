//! `aten::exp`: e to the power of each element.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.exp`.
#[cfg(feature = "catalogue")]
pub const EXP: Operator = Operator {
    schema: "aten::exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::exp",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[9],
                &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[9],
                &[1.0, 1.0, 2.117, 0.22313017, 70.105415, 0.0001234098, f64::NAN, f64::INFINITY, 0.0],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[6, 1],
                &[1.0, 1.0, 2.117000016612675, 0.22313016014842982, 70.10541234668786, 0.00012340980408667956],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[6], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0]))],
            &[CaseTensor::of(ScalarType::Half, &[6], &[1.0, 1.0, 2.1171875, 0.22314453, 70.125, 0.00012338161])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, -2.0]))],
            &[CaseTensor::float(&[3], &[1.0, 20.085537, 0.13533528])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Exp, D>(args)
}

struct Exp;

impl Function for Exp {
    fn of<M: Math>(x: M) -> M {
        x.exp()
    }
}
