//! `aten::_log_softmax`: the logarithm of the softmax along a dimension, without forming the softmax.

use crate::activations::exponentials;
use crate::math::Math;
use crate::prelude::*;

/// `torch.log_softmax`.
#[cfg(feature = "catalogue")]
pub const LOG_SOFTMAX: Operator = Operator {
    schema: "aten::_log_softmax.out(Tensor self, int dim, bool half_to_float, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_log_softmax",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: exponentials::meta,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "rows, one far out of the range of exponentials",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 0.0, -1000.0])), Int(1), Bool(false)],
            &[CaseTensor::float(&[2, 2], &[-1.3132616, -0.31326166, 0.0, -1000.0])],
        ),
        Case::near(
            "columns in double precision",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2, 1], &[0.0, 0.0])), Int(-2), Bool(false)],
            &[CaseTensor::of(ScalarType::Double, &[2, 1], &[-core::f64::consts::LN_2; 2])],
        ),
        Case::refused(
            "beyond the end",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(3)?;
    out.settle(|| Ok(exponentials::meta(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => {
        exponentials::store::<T>(args, Math::ln, |distance, logarithm| distance - logarithm)
    })
}
