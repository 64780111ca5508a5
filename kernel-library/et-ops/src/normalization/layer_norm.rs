//! `aten::layer_norm`: each sample normalized over the trailing dimensions `normalized_shape`.

use crate::family::unary;
use crate::normalization::rows;
use crate::prelude::*;

/// `torch.nn.functional.layer_norm`.
#[cfg(feature = "catalogue")]
pub const LAYER_NORM: Operator = Operator {
    schema: "aten::layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, \
             float eps=1e-05, bool cudnn_enable=True, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::layer_norm",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "rows with weight and bias",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 2], &[1.0, 3.0, -4.0, 4.0])),
                Ints(&[2]),
                Tensor(CaseTensor::float(&[2], &[2.0, 0.5])),
                Tensor(CaseTensor::float(&[2], &[10.0, 20.0])),
                Double(0.0),
                Bool(true),
            ],
            &[CaseTensor::float(&[2, 2], &[8.0, 20.5, 8.0, 20.5])],
        ),
        Case::near(
            "two dimensions in half precision with an epsilon",
            1e-3,
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[1, 2, 2], &[1.0, 1.0, 3.0, 3.0])),
                Ints(&[2, 2]),
                CaseArgument::None,
                CaseArgument::None,
                Double(3.0),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Half, &[1, 2, 2], &[-0.5, -0.5, 0.5, 0.5])],
        ),
        Case::refused(
            "a weight of another shape",
            &[
                Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])),
                Ints(&[2]),
                Tensor(CaseTensor::float(&[1], &[1.0])),
                CaseArgument::None,
                Double(1e-5),
                Bool(true),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    rows::leading(args, &[2, 3])?;
    unary::like_first(args, index)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(6)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => rows::normalize::<T>(args, &out, |_| ()))
}
