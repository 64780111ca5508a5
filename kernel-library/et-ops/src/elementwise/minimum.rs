//! `aten::minimum`: the lesser of two elements, broadcast and promoted. NaN wins.

use crate::elementwise::pairing::{self, Pairing};
use crate::family::binary;
use crate::prelude::*;

/// `torch.minimum`.
#[cfg(feature = "catalogue")]
pub const MINIMUM: Operator = Operator {
    schema: "aten::minimum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::minimum",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "NaN wins on either side",
            &[
                Tensor(CaseTensor::float(&[4], &[1.0, f64::NAN, 3.0, f64::NEG_INFINITY])),
                Tensor(CaseTensor::float(&[4], &[2.0, 2.0, f64::NAN, 5.0])),
            ],
            &[CaseTensor::float(&[4], &[1.0, f64::NAN, f64::NAN, f64::NEG_INFINITY])],
        ),
        Case::exact(
            "integers and floats promote",
            &[Tensor(CaseTensor::long(&[2, 1], &[1.0, 4.0])), Tensor(CaseTensor::float(&[2], &[2.5, 0.5]))],
            &[CaseTensor::float(&[2, 2], &[1.0, 0.5, 2.5, 0.5])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Tensor(CaseTensor::bool(&[1], &[1.0]))],
            &[CaseTensor::bool(&[2], &[1.0, 0.0])],
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0]))],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    pairing::tensors::<Minimum, D>(args)
}

struct Minimum;

impl Pairing for Minimum {
    fn numbers<T: Number>(left: T, right: T) -> T {
        if right < left || right.is_nan() { right } else { left }
    }

    fn booleans(left: bool, right: bool) -> bool {
        left & right
    }
}
