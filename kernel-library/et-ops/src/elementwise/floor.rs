//! `aten::floor`: rounds each element down to an integer. Integer tensors are copied.

use crate::family::real::{self, Function};
use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;

/// `torch.floor`.
#[cfg(feature = "catalogue")]
pub const FLOOR: Operator = Operator {
    schema: "aten::floor.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::floor",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "halfway and special values",
            &[Tensor(CaseTensor::float(
                &[10],
                &[0.5, -0.5, 1.5, 2.5, -2.7, 3.2, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[10],
                &[0.0, -1.0, 1.0, 2.0, -3.0, 3.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            )],
        ),
        Case::exact(
            "doubles beyond the precision of a float",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2, 1], &[16777217.5, -4503599627370495.5]))],
            &[CaseTensor::of(ScalarType::Double, &[2, 1], &[16777217.0, -4503599627370496.0])],
        ),
        Case::exact(
            "bfloat16",
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[2], &[2.75, -2.75]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[2], &[2.0, -3.0])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2], &[1.0, -7.0]))],
            &[CaseTensor::of(ScalarType::Int, &[2], &[1.0, -7.0])],
        ),
        Case::refused("booleans", &[Tensor(CaseTensor::bool(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::round::<Floor, D>(args)
}

struct Floor;

impl Function for Floor {
    fn of<M: Math>(x: M) -> M {
        x.floor()
    }
}
