//! `aten::add`: `self + alpha * other`, broadcast and promoted.

use crate::elementwise::scaled::{self, Scaled, check_factor};
use crate::family::{binary, unary};
use crate::prelude::*;

/// `torch.add` of two tensors.
#[cfg(feature = "catalogue")]
pub const ADD: Operator = Operator {
    schema: "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::add.Tensor",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "broadcast with alpha",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[3], &[10.0, 20.0, 30.0])),
                Double(0.5),
            ],
            &[CaseTensor::float(&[2, 3], &[6.0, 11.0, 16.0, 7.0, 12.0, 17.0])],
        ),
        Case::exact(
            "integers and floats promote",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[2], &[0.5, 0.25])), Int(1)],
            &[CaseTensor::float(&[2], &[1.5, 2.25])],
        ),
        Case::exact(
            "a scalar tensor of the same category does not widen",
            &[Tensor(CaseTensor::of(ScalarType::Short, &[1], &[7.0])), Tensor(CaseTensor::long(&[], &[1.0])), Int(2)],
            &[CaseTensor::of(ScalarType::Short, &[1], &[9.0])],
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[3], &[1.0; 3])), Int(1)],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.add` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const ADD_SCALAR: Operator = Operator {
    schema: "aten::add.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::add.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted_with_scalar,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "a number with alpha",
            &[Tensor(CaseTensor::float(&[2], &[1.0, f64::NAN])), Int(4), Double(0.5)],
            &[CaseTensor::float(&[2], &[3.0, f64::NAN])],
        ),
        Case::exact(
            "a fraction turns integers into floats",
            &[Tensor(CaseTensor::long(&[1, 2], &[1.0, -2.0])), Double(0.5), Int(1)],
            &[CaseTensor::float(&[1, 2], &[1.5, -1.5])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[2], &[0.0, 1.0])), Bool(true), Int(1)],
            &[CaseTensor::bool(&[2], &[1.0, 1.0])],
        ),
        Case::refused(
            "a fraction of an integer",
            &[Tensor(CaseTensor::long(&[1], &[1.0])), Int(1), Double(0.5)],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (left, right, alpha, out) = (args.tensor(0)?, args.tensor(1)?, args.scalar(2)?, args.tensor(3)?);
    match binary::promote(&left, &right) {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            check_factor(ScalarType::Bool, alpha)?;
            let keep = alpha.cast::<bool>();
            binary::zip::<bool, bool, D>([&left, &right, &out], |left, right| left | (right & keep))
        }
        common => scaled::tensors::<Add, D>([&left, &right, &out], alpha, common),
    }
}

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, other, alpha, out) = (args.tensor(0)?, args.scalar(1)?, args.scalar(2)?, args.tensor(3)?);
    match other.promote(input.scalar_type()) {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            check_factor(ScalarType::Bool, alpha)?;
            let right = other.cast::<bool>() & alpha.cast::<bool>();
            unary::convert::<bool, bool, D>(&input, &out, |left| left | right)
        }
        common => scaled::with_scalar::<Add, D>(args, common),
    }
}

struct Add;

impl Scaled for Add {
    fn combine<T: Number>(left: T, scaled: T) -> T {
        left.plus(scaled)
    }
}
