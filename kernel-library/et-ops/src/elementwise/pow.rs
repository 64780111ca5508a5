//! `aten::pow`: each element to a power, promoted. Integers wrap around.

use core::f64::consts::SQRT_2;

use et_core::Element;

use crate::family::opmath::Opmath;
use crate::family::real::Real;
use crate::family::{binary, unary};
use crate::math::Math;
use crate::prelude::*;

/// `torch.pow` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const POW_SCALAR: Operator = Operator {
    schema: "aten::pow.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::pow.Tensor_Scalar",
    path: kernel_path!(tensor_scalar_out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted_with_scalar,
    kernel: tensor_scalar_out::<ALL>,
    cases: &[
        Case::near(
            "squares",
            1e-6,
            &[Tensor(CaseTensor::float(&[3], &[1.5, -3.0, f64::NAN])), Int(2)],
            &[CaseTensor::float(&[3], &[2.25, 9.0, f64::NAN])],
        ),
        Case::near(
            "square roots",
            1e-6,
            &[Tensor(CaseTensor::float(&[4], &[4.0, 2.25, -1.0, -0.0])), Double(0.5)],
            &[CaseTensor::float(&[4], &[2.0, 1.5, f64::NAN, -0.0])],
        ),
        Case::near(
            "any power",
            1e-6,
            &[Tensor(CaseTensor::float(&[3, 1], &[0.5, 2.0, -2.0])), Double(-1.7)],
            &[CaseTensor::float(&[3, 1], &[3.2490096, 0.3077861, f64::NAN])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[3], &[3.0, -2.0, 0.0])), Int(5)],
            &[CaseTensor::of(ScalarType::Int, &[3], &[243.0, -32.0, 0.0])],
        ),
        Case::near(
            "a fraction turns integers into floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[2], &[16.0, 5.0])), Double(0.25)],
            &[CaseTensor::float(&[2], &[2.0, 1.4953488])],
        ),
        Case::near(
            "halves",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2], &[1.5, 3.0])), Int(3)],
            &[CaseTensor::of(ScalarType::Half, &[2], &[3.375, 27.0])],
        ),
        Case::refused(
            "integers to a negative power",
            &[Tensor(CaseTensor::long(&[1], &[2.0])), Int(-1)],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.pow` of two tensors.
#[cfg(feature = "catalogue")]
pub const POW_TENSOR: Operator = Operator {
    schema: "aten::pow.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::pow.Tensor_Tensor",
    path: kernel_path!(tensor_tensor_out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted,
    kernel: tensor_tensor_out::<ALL>,
    cases: &[
        Case::near(
            "broadcast",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[3, 1], &[4.0, 0.25, -3.0])),
                Tensor(CaseTensor::float(&[3], &[3.0, -2.0, 0.5])),
            ],
            &[CaseTensor::float(&[3, 3], &[64.0, 0.0625, 2.0, 0.015625, 16.0, 0.5, -27.0, 0.11111111, f64::NAN])],
        ),
        Case::near(
            "special values",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[7], &[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, f64::NAN, -1.0])),
                Tensor(CaseTensor::float(&[7], &[-1.0, -3.0, -2.0, 3.0, f64::NAN, 0.0, f64::INFINITY])),
            ],
            &[CaseTensor::float(&[7], &[f64::INFINITY, f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY, 1.0, 1.0, 1.0])],
        ),
        Case::exact(
            "negative powers of integers",
            &[
                Tensor(CaseTensor::long(&[6], &[2.0, -1.0, 1.0, 0.0, 3.0, -1.0])),
                Tensor(CaseTensor::long(&[6], &[-1.0, -3.0, -5.0, -1.0, -2.0, -2.0])),
            ],
            &[CaseTensor::long(&[6], &[0.0, -1.0, 1.0, 0.0, 0.0, 1.0])],
        ),
        Case::exact(
            "integers wrap around",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[7.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[3.0, 7.0])),
            ],
            &[CaseTensor::of(ScalarType::Byte, &[2], &[87.0, 139.0])],
        ),
        Case::refused(
            "booleans",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Tensor(CaseTensor::bool(&[1], &[1.0]))],
            Error::InvalidType,
        ),
    ],
};

/// `torch.pow` of a number and a tensor.
#[cfg(feature = "catalogue")]
pub const POW_SCALAR_TENSOR: Operator = Operator {
    schema: "aten::pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::pow.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::ALL,
    infer: promoted_with_base,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::near(
            "powers of two",
            1e-6,
            &[Int(2), Tensor(CaseTensor::float(&[2, 2], &[-1.0, 0.5, 3.0, f64::NAN]))],
            &[CaseTensor::float(&[2, 2], &[0.5, SQRT_2, 8.0, f64::NAN])],
        ),
        Case::exact(
            "powers of one",
            &[Double(1.0), Tensor(CaseTensor::float(&[2], &[f64::NAN, f64::INFINITY]))],
            &[CaseTensor::float(&[2], &[1.0, 1.0])],
        ),
        Case::exact(
            "integers",
            &[Int(-3), Tensor(CaseTensor::long(&[4], &[0.0, 1.0, 3.0, -1.0]))],
            &[CaseTensor::long(&[4], &[1.0, -3.0, -27.0, 0.0])],
        ),
        Case::exact(
            "booleans as exponents",
            &[Int(2), Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::long(&[2], &[2.0, 1.0])],
        ),
        Case::near(
            "a fraction turns integers into floats",
            1e-6,
            &[Double(2.5), Tensor(CaseTensor::of(ScalarType::Int, &[2], &[-1.0, 3.0]))],
            &[CaseTensor::float(&[2], &[0.4, 15.625])],
        ),
        Case::exact(
            "bytes wrap around",
            &[Int(300), Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[1.0, 2.0]))],
            &[CaseTensor::of(ScalarType::Byte, &[2], &[44.0, 144.0])],
        ),
        Case::near(
            "halves",
            1e-3,
            &[Double(-2.0), Tensor(CaseTensor::of(ScalarType::Half, &[2], &[0.5, 2.0]))],
            &[CaseTensor::of(ScalarType::Half, &[2], &[f64::NAN, 4.0])],
        ),
        Case::refused("booleans", &[Bool(true), Tensor(CaseTensor::bool(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn tensor_scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (base, exponent, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(2)?);
    let common = exponent.promote(base.scalar_type());
    if common.is_float() {
        return dispatch!(D, common, floats, T => {
            unary::convert::<T, T, D>(&base, &out, |base| T::lower(float_power(base.raise(), exponent.cast())))
        });
    }
    let exponent = exponent.to_i64();
    if exponent < 0 {
        return Err(Error::InvalidArgument);
    }
    dispatch!(D, common, integers, T => {
        unary::convert::<T, T, D>(&base, &out, |base| integer_power(base, exponent))
    })
}

/// The portable kernel of two tensors for the types in `D`.
pub fn tensor_tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (base, exponent, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let common = binary::promote(&base, &exponent);
    if common.is_float() {
        dispatch!(D, common, floats, T => binary::zip::<T, T, D>([&base, &exponent, &out], power_of_elements::<T>))
    } else {
        dispatch!(D, common, integers, T => binary::zip::<T, T, D>([&base, &exponent, &out], |base, exponent| {
            integer_power(base, exponent.to_i64())
        }))
    }
}

fn power_of_elements<T: Real>(base: T, exponent: T) -> T {
    T::narrow(base.widen().pow(exponent.widen()))
}

/// The two exponents that models use most have functions of their own, in PyTorch too.
fn float_power<M: Math>(base: M, exponent: M) -> M {
    if exponent == M::TWO {
        base * base
    } else if exponent == M::HALF {
        base.sqrt()
    } else {
        base.pow(exponent)
    }
}

/// By repeated squaring. A negative power of an integer is 0, unless the integer is 1 or -1.
fn integer_power<T: Number>(base: T, exponent: i64) -> T {
    if exponent < 0 {
        return negative_power(base, exponent);
    }
    let (mut power, mut square, mut rest) = (T::ONE, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            power = power.times(square);
        }
        square = square.times(square);
        rest >>= 1;
    }
    power
}

fn negative_power<T: Number>(base: T, exponent: i64) -> T {
    match base.to_i64() {
        1 => T::ONE,
        -1 if exponent & 1 == 0 => T::ONE,
        -1 => base,
        _ => T::ZERO,
    }
}

/// The portable kernel of a number and a tensor for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (base, exponent, out) = (args.scalar(0)?, args.tensor(1)?, args.tensor(2)?);
    let common = base.promote(exponent.scalar_type());
    if common.is_float() {
        dispatch!(D, common, floats, T => {
            let base = base.cast::<T>();
            unary::convert::<T, T, D>(&exponent, &out, |exponent| power_of_elements(base, exponent))
        })
    } else {
        dispatch!(D, common, integers, T => {
            let base = base.cast::<T>();
            unary::convert::<T, T, D>(&exponent, &out, |exponent| integer_power(base, exponent.to_i64()))
        })
    }
}

fn promoted_with_base(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (base, exponent) = (args.scalar(0)?, args.tensor(1)?);
    Ok(Meta { scalar_type: base.promote(exponent.scalar_type()), shape: exponent.shape() })
}
