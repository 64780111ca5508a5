//! `aten::elu`: `scale x` where `x` is positive, else `scale alpha (e^(input_scale x) - 1)`.

use et_core::Float;

use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.elu`.
#[cfg(feature = "catalogue")]
pub const ELU: Operator = Operator {
    schema: "aten::elu.out(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::elu",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "defaults",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[-2.0, 0.5, -1e-04, f64::NAN])), Int(1), Int(1), Int(1)],
            &[CaseTensor::float(&[2, 2], &[-0.86466473, 0.5, -9.9995e-05, f64::NAN])],
        ),
        Case::near(
            "all parameters",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[4], &[1.0, -1.0, f64::NEG_INFINITY, -0.0])),
                Double(2.0),
                Double(3.0),
                Double(0.5),
            ],
            &[CaseTensor::float(&[4], &[3.0, -2.360816, -6.0, -0.0])],
        ),
        Case::near(
            "halves",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2], &[-3.0, 3.0])), Int(1), Int(1), Int(1)],
            &[CaseTensor::of(ScalarType::Half, &[2], &[-0.9501953, 3.0])],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2], &[-1e-09, 2.0])), Int(1), Double(1.5), Int(1)],
            &[CaseTensor::of(ScalarType::Double, &[2], &[-1.49999999925e-09, 3.0])],
        ),
        Case::refused(
            "integers",
            &[Tensor(CaseTensor::long(&[1], &[1.0])), Int(1), Int(1), Int(1)],
            Error::InvalidType,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(4)?);
    let (alpha, scale, input_scale) = (args.scalar(1)?, args.scalar(2)?, args.scalar(3)?);
    dispatch!(D, input.scalar_type(), floats, T => {
        let factors = [alpha, scale, input_scale].map(|factor| factor.cast::<<T as Float>::Wide>());
        unary::map(&input, &out, |element: T| T::narrow(elu(element.widen(), factors)))
    })
}

fn elu<M: Math>(x: M, [alpha, scale, input_scale]: [M; 3]) -> M {
    if x < M::ZERO { (x * input_scale).expm1() * (alpha * scale) } else { x * scale }
}
