//! `aten::relu`: `max(x, 0)` of each element. NaN stays NaN.

use crate::family::unary;
use crate::prelude::*;

/// `torch.relu`.
#[cfg(feature = "catalogue")]
pub const RELU: Operator = Operator {
    schema: "aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::relu",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "signs",
            &[Tensor(CaseTensor::float(&[4], &[-1.5, 0.0, 2.0, f64::NAN]))],
            &[CaseTensor::float(&[4], &[0.0, 0.0, 2.0, f64::NAN])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::long(&[2, 1], &[-3.0, 3.0]))],
            &[CaseTensor::long(&[2, 1], &[0.0, 3.0])],
        ),
        Case::refused("booleans", &[Tensor(CaseTensor::bool(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    dispatch!(D, input.scalar_type(), numbers, T => unary::map(&input, &out, rectify::<T>))
}

fn rectify<T: Number>(element: T) -> T {
    if element < T::ZERO { T::ZERO } else { element }
}
