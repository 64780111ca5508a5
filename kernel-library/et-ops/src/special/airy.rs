//! The Airy function.

use crate::family::real;
use crate::math::special::airy;
use crate::prelude::*;
use crate::special::function;

/// `torch.special.airy_ai`.
#[cfg(feature = "catalogue")]
pub const AIRY_AI: Operator = Operator {
    schema: "aten::special_airy_ai.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_airy_ai",
    path: kernel_path!(airy_ai),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: airy_ai::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -6.5, 0.0, 5.0, -9.0]))],
            &[CaseTensor::float(
                &[7],
                &[0.231693611, 0.520045459, 0.00659113936, -0.238020301, 0.355028063, 0.000108344429, -0.022133721],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -6.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.23169360648083345, 0.5200454774352993, 0.00659113935746072, -0.23802030199711582],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.135292411, 0.355028063])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel of `special_airy_ai` for the types in `D`.
pub fn airy_ai<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, airy::ai)
}
