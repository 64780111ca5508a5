//! `aten::add`: `self + alpha * other`, broadcast and promoted.

use et_core::Scalar;

use crate::family::binary;
use crate::prelude::*;

/// `torch.add` of two tensors.
pub static ADD: Operator = Operator {
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

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (left, right, alpha, out) = (args.tensor(0)?, args.tensor(1)?, args.scalar(2)?, args.tensor(3)?);
    match binary::promote(&left, &right) {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            let keep = alpha.to_i64() != 0;
            binary::zip::<bool, bool, D>([&left, &right, &out], |left, right| left | (right & keep))
        }
        common => dispatch!(D, common, numbers, T => add::<T, D>([&left, &right, &out], alpha)),
    }
}

fn add<T: Number, const D: u32>(tensors: [&et_core::Tensor<'_>; 3], alpha: Scalar) -> Result<()> {
    let alpha = alpha.cast::<T>();
    binary::zip::<T, T, D>(tensors, |left, right| left.plus(alpha.times(right)))
}
