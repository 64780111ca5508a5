//! `aten::var_mean`: variances and means along some or all dimensions.

use et_core::Scalar;

use crate::family::reduce::Folded;
use crate::family::transfer;
use crate::prelude::*;
use crate::reductions::moment;

/// `torch.var_mean`; the divisor is the number of elements less `correction`, which is 1 unless given.
#[cfg(feature = "catalogue")]
pub const VAR_MEAN: Operator = Operator {
    schema: "aten::var_mean.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool \
             keepdim=False, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
    functional: "aten::var_mean.correction",
    path: kernel_path!(correction_out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: correction_out::<ALL>,
    cases: &[
        Case::near(
            "columns",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 5.0])), Ints(&[0]), CaseArgument::None, Bool(true)],
            &[CaseTensor::float(&[1, 2], &[2.0, 4.5]), CaseTensor::float(&[1, 2], &[2.0, 3.5])],
        ),
        Case::exact(
            "all of a population in double precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2], &[1.0, 3.0, 1.0, 3.0])),
                CaseArgument::None,
                Int(0),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Double, &[], &[1.0]), CaseTensor::of(ScalarType::Double, &[], &[2.0])],
        ),
        Case::exact(
            "of a single element",
            &[Tensor(CaseTensor::float(&[1], &[2.0])), Ints(&[0]), Int(1), Bool(false)],
            &[CaseTensor::float(&[], &[f64::NAN]), CaseTensor::float(&[], &[2.0])],
        ),
        Case::near(
            "halves",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[3], &[1.0, 2.0, 4.0])), Ints(&[0]), Int(1), Bool(false)],
            &[CaseTensor::of(ScalarType::Half, &[], &[2.3339844]), CaseTensor::of(ScalarType::Half, &[], &[2.3339844])],
        ),
        Case::exact(
            "of nothing",
            &[Tensor(CaseTensor::float(&[0], &[])), CaseArgument::None, CaseArgument::None, Bool(false)],
            &[CaseTensor::float(&[], &[f64::NAN]), CaseTensor::float(&[], &[f64::NAN])],
        ),
        Case::refused(
            "integers",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Ints(&[0]), Int(1), Bool(false)],
            Error::InvalidType,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    transfer::reshaped(args, Folded::argument(args, 1)?.shape(&args.tensor(0)?.shape(), args.bool(3)?)?)
}

/// The portable kernel for the types in `D`.
pub fn correction_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (variances, means, shape) = (args.tensor(4)?, args.tensor(5)?, infer(args, 0)?.shape);
    variances.resize(&shape)?;
    means.resize(&shape)?;
    let correction = args.optional_scalar(2)?.unwrap_or(Scalar::Int(1));
    dispatch!(D, variances.scalar_type(), floats, T => moment::store::<T>(args, correction, [&variances, &means]))
}
