//! `aten::div`: the quotient, broadcast and promoted; in full, or rounded towards 0 or minus infinity.

use crate::family::division::{self, Rounding};
use crate::family::{binary, real};
use crate::prelude::*;

/// `torch.div` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const DIV_SCALAR: Operator = Operator {
    schema: "aten::div.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::div.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::ALL,
    infer: quotient_with_scalar,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "a float",
            &[Tensor(CaseTensor::float(&[3], &[1.0, -3.0, f64::NAN])), Double(4.0)],
            &[CaseTensor::float(&[3], &[0.25, -0.75, f64::NAN])],
        ),
        Case::exact(
            "integers become floats",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2, 1], &[7.0, -7.0])), Int(2)],
            &[CaseTensor::float(&[2, 1], &[3.5, -3.5])],
        ),
        Case::exact(
            "by zero",
            &[Tensor(CaseTensor::float(&[3], &[1.0, -1.0, 0.0])), Int(0)],
            &[CaseTensor::float(&[3], &[f64::INFINITY, f64::NEG_INFINITY, f64::NAN])],
        ),
        Case::exact(
            "the divisor of halves is not rounded to a half",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2], &[3.0, 1000.0])), Double(0.1)],
            &[CaseTensor::of(ScalarType::Half, &[2], &[30.0, 10000.0])],
        ),
        Case::refused("text is no number", &[Tensor(CaseTensor::float(&[1], &[1.0])), Text("x")], Error::InvalidType),
    ],
};

/// `torch.div` of a tensor and a number, rounded as `rounding_mode` says.
#[cfg(feature = "catalogue")]
pub const DIV_SCALAR_MODE: Operator = Operator {
    schema: "aten::div.Scalar_mode_out(Tensor self, Scalar other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::div.Scalar_mode",
    path: kernel_path!(scalar_mode_out),
    dtypes: Dtypes::ALL,
    infer: quotient_with_scalar_mode,
    kernel: scalar_mode_out::<ALL>,
    cases: &[
        Case::exact(
            "floor of integers",
            &[Tensor(CaseTensor::long(&[2], &[7.0, -7.0])), Int(2), Text("floor")],
            &[CaseTensor::long(&[2], &[3.0, -4.0])],
        ),
        Case::exact(
            "trunc of floats",
            &[Tensor(CaseTensor::float(&[2], &[7.5, -7.5])), Double(2.0), Text("trunc")],
            &[CaseTensor::float(&[2], &[3.0, -3.0])],
        ),
        Case::exact(
            "no mode",
            &[Tensor(CaseTensor::long(&[2], &[7.0, -7.0])), Int(2), CaseArgument::None],
            &[CaseTensor::float(&[2], &[3.5, -3.5])],
        ),
        Case::refused(
            "an integer by zero",
            &[Tensor(CaseTensor::long(&[1], &[1.0])), Int(0), Text("floor")],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.div` of two tensors.
#[cfg(feature = "catalogue")]
pub const DIV: Operator = Operator {
    schema: "aten::div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::div.Tensor",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: quotient,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[3], &[4.0, 0.0, f64::NEG_INFINITY])),
            ],
            &[CaseTensor::float(&[2, 3], &[0.25, f64::INFINITY, -0.0, 0.5, f64::INFINITY, -0.0])],
        ),
        Case::exact(
            "integers become floats",
            &[Tensor(CaseTensor::long(&[2], &[7.0, -7.0])), Tensor(CaseTensor::long(&[2], &[2.0, 0.0]))],
            &[CaseTensor::float(&[2], &[3.5, f64::NEG_INFINITY])],
        ),
        Case::exact(
            "booleans become floats",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Tensor(CaseTensor::bool(&[2], &[1.0, 1.0]))],
            &[CaseTensor::float(&[2], &[1.0, 0.0])],
        ),
        Case::exact(
            "bfloat16",
            &[
                Tensor(CaseTensor::of(ScalarType::BFloat16, &[2], &[1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::BFloat16, &[2], &[3.0, 3.0])),
            ],
            &[CaseTensor::of(ScalarType::BFloat16, &[2], &[0.33398438, 0.66796875])],
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0]))],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.div` of two tensors, rounded as `rounding_mode` says.
#[cfg(feature = "catalogue")]
pub const DIV_MODE: Operator = Operator {
    schema: "aten::div.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::div.Tensor_mode",
    path: kernel_path!(out_mode),
    dtypes: Dtypes::ALL,
    infer: quotient_mode,
    kernel: out_mode::<ALL>,
    cases: &[
        Case::exact(
            "floor of integers",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[6], &[7.0, -7.0, 7.0, -7.0, 6.0, -128.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[6], &[2.0, 2.0, -2.0, -2.0, -3.0, -1.0])),
                Text("floor"),
            ],
            &[CaseTensor::of(ScalarType::Char, &[6], &[3.0, -4.0, -4.0, 3.0, -2.0, -128.0])],
        ),
        Case::exact(
            "trunc of integers",
            &[
                Tensor(CaseTensor::long(&[4], &[7.0, -7.0, 7.0, -7.0])),
                Tensor(CaseTensor::long(&[4], &[2.0, 2.0, -2.0, -2.0])),
                Text("trunc"),
            ],
            &[CaseTensor::long(&[4], &[3.0, -3.0, -3.0, 3.0])],
        ),
        Case::exact(
            "floor of floats",
            &[
                Tensor(CaseTensor::float(&[8], &[7.5, -7.5, 1.0, -1.0, 0.0, -5.0, 1.0, -0.0])),
                Tensor(CaseTensor::float(&[8], &[2.0, 2.0, 0.0, 0.0, 0.0, f64::INFINITY, 0.1, 3.0])),
                Text("floor"),
            ],
            &[CaseTensor::float(&[8], &[3.0, -4.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -1.0, 9.0, -0.0])],
        ),
        Case::exact(
            "trunc of floats",
            &[
                Tensor(CaseTensor::float(&[5], &[7.5, -7.5, 1.0, -1.0, f64::NAN])),
                Tensor(CaseTensor::float(&[5], &[2.0, 2.0, 0.0, 0.0, 2.0])),
                Text("trunc"),
            ],
            &[CaseTensor::float(&[5], &[3.0, -3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN])],
        ),
        Case::exact(
            "no mode",
            &[Tensor(CaseTensor::long(&[1], &[7.0])), Tensor(CaseTensor::long(&[1], &[2.0])), CaseArgument::None],
            &[CaseTensor::float(&[1], &[3.5])],
        ),
        Case::refused(
            "an integer by zero",
            &[Tensor(CaseTensor::long(&[1], &[1.0])), Tensor(CaseTensor::long(&[1], &[0.0])), Text("trunc")],
            Error::InvalidArgument,
        ),
        Case::refused(
            "an unknown mode",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::float(&[1], &[2.0])), Text("up")],
            Error::InvalidArgument,
        ),
        Case::refused(
            "booleans have no rounded quotient",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Tensor(CaseTensor::bool(&[1], &[1.0])), Text("floor")],
            Error::InvalidType,
        ),
    ],
};

fn quotient(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let promoted = binary::promoted(args, index)?;
    Ok(Meta { scalar_type: real::floated(promoted.scalar_type), ..promoted })
}

fn quotient_mode(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    if Rounding::of(args, 2)? == Rounding::None { quotient(args, index) } else { binary::promoted(args, index) }
}

fn quotient_with_scalar(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let promoted = binary::promoted_with_scalar(args, index)?;
    Ok(Meta { scalar_type: real::floated(promoted.scalar_type), ..promoted })
}

fn quotient_with_scalar_mode(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    match Rounding::of(args, 2)? {
        Rounding::None => quotient_with_scalar(args, index),
        Rounding::Trunc | Rounding::Floor => binary::promoted_with_scalar(args, index),
    }
}

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    division::with_scalar::<D>(args, Rounding::None, 2)
}

/// The portable kernel of a tensor and a number with rounding for the types in `D`.
pub fn scalar_mode_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    division::with_scalar::<D>(args, Rounding::of(args, 2)?, 3)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    division::tensors::<D>(args, Rounding::None, 2)
}

/// The portable kernel of two tensors with rounding for the types in `D`.
pub fn out_mode<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    division::tensors::<D>(args, Rounding::of(args, 2)?, 3)
}
