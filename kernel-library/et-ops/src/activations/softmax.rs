//! `aten::_softmax`: exponentials along a dimension, divided by their sum.

use crate::activations::exponentials;
use crate::math::Math;
use crate::prelude::*;

/// `torch.softmax`.
#[cfg(feature = "catalogue")]
pub const SOFTMAX: Operator = Operator {
    schema: "aten::_softmax.out(Tensor self, int dim, bool half_to_float, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_softmax",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: exponentials::meta,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "rows, one far out of the range of exponentials",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 1000.0, 1000.0, -1000.0])), Int(-1), Bool(false)],
            &[CaseTensor::float(&[2, 3], &[0.09003057, 0.24472848, 0.66524094, 0.5, 0.5, 0.0])],
        ),
        Case::near(
            "columns in double precision",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2, 1], &[0.0, 1.0])), Int(0), Bool(false)],
            &[CaseTensor::of(ScalarType::Double, &[2, 1], &[0.2689414213699951, 0.7310585786300049])],
        ),
        Case::exact(
            "a scalar",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[], &[7.0])), Int(0), Bool(false)],
            &[CaseTensor::of(ScalarType::Half, &[], &[1.0])],
        ),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[1], &[1.0])), Int(0), Bool(false)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(3)?;
    out.settle(|| Ok(exponentials::meta(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => {
        exponentials::store::<T>(args, |sum| sum, |distance, sum| Math::exp(distance) / sum)
    })
}
