//! `aten::group_norm`: each group of channels of each sample normalized.

use crate::family::unary;
use crate::normalization::groups;
use crate::prelude::*;

/// `torch.nn.functional.group_norm`.
#[cfg(feature = "catalogue")]
pub const GROUP_NORM: Operator = Operator {
    schema: "aten::group_norm.out(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, \
             float eps=1e-05, bool cudnn_enabled=True, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::group_norm",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "two groups with weight and bias",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 4, 1], &[1.0, 3.0, -4.0, 4.0])),
                Int(2),
                Tensor(CaseTensor::float(&[4], &[2.0, 0.5, 1.0, 1.0])),
                Tensor(CaseTensor::float(&[4], &[10.0, 20.0, 0.0, 0.0])),
                Double(0.0),
                Bool(true),
            ],
            &[CaseTensor::float(&[1, 4, 1], &[8.0, 20.5, -1.0, 1.0])],
        ),
        Case::near(
            "images in double precision",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 1, 2], &[1.0, 3.0, 5.0, 7.0])),
                Int(1),
                CaseArgument::None,
                CaseArgument::None,
                Double(3.0),
                Bool(true),
            ],
            &[CaseTensor::of(ScalarType::Double, &[2, 1, 1, 2], &[-0.5, 0.5, -0.5, 0.5])],
        ),
        Case::refused(
            "groups that do not divide the channels",
            &[
                Tensor(CaseTensor::float(&[1, 3, 1], &[1.0; 3])),
                Int(2),
                CaseArgument::None,
                CaseArgument::None,
                Double(1e-5),
                Bool(true),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn parameters<'p>(args: &Args<'p, '_>) -> Result<[Option<et_core::Tensor<'p>>; 2]> {
    Ok([args.optional_tensor(2)?, args.optional_tensor(3)?])
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    groups::groups(&args.tensor(0)?.shape(), args.int(1)?, &parameters(args)?)?;
    unary::like_first(args, index)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, parameters) = (args.tensor(0)?, args.tensor(6)?, parameters(args)?);
    let groups = groups::groups(&input.shape(), args.int(1)?, &parameters)?;
    out.settle(|| Ok(input.shape()))?;
    let settings = (groups, args.double(4)?);
    dispatch!(D, out.scalar_type(), floats, T => {
        groups::normalize::<T>([&input, &out], parameters, settings, |_, _| ())
    })
}
