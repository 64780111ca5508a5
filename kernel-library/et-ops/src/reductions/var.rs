//! `aten::var`: variances along some or all dimensions.

use et_core::Scalar;

use crate::family::reduce::Folded;
use crate::family::transfer;
use crate::prelude::*;
use crate::reductions::moment;

/// `torch.var`; the divisor is the number of elements less `correction`, which is 1 unless given.
#[cfg(feature = "catalogue")]
pub const VAR: Operator = Operator {
    schema: "aten::var.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::var.correction",
    path: kernel_path!(correction_out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: correction_out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0])),
                Ints(&[1]),
                CaseArgument::None,
                Bool(true),
            ],
            &[CaseTensor::float(&[2, 1], &[1.0, 4.0])],
        ),
        Case::exact(
            "of the whole population in double precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2], &[1.0, 3.0, 1.0, 3.0])),
                CaseArgument::None,
                Int(0),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Double, &[], &[1.0])],
        ),
        Case::exact(
            "of a single element",
            &[Tensor(CaseTensor::float(&[1], &[2.0])), Ints(&[0]), Int(1), Bool(false)],
            &[CaseTensor::float(&[], &[f64::NAN])],
        ),
        Case::refused(
            "integers",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Ints(&[0]), Int(1), Bool(false)],
            Error::InvalidType,
        ),
    ],
};

/// `torch.var`, whose divisor is the number of elements, less 1 where `unbiased`.
#[cfg(feature = "catalogue")]
pub const VAR_UNBIASED: Operator = Operator {
    schema: "aten::var.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> \
             Tensor(a!)",
    functional: "aten::var.dim",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns of a population",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 5.0])), Ints(&[0]), Bool(false), Bool(true)],
            &[CaseTensor::float(&[1, 2], &[1.0, 2.25])],
        ),
        Case::near(
            "all of a sample",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 5.0])), CaseArgument::None, Bool(true), Bool(false)],
            &[CaseTensor::float(&[], &[2.9166667])],
        ),
        Case::near(
            "halves",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[3], &[1.0, 2.0, 4.0])), Ints(&[0]), Bool(true), Bool(false)],
            &[CaseTensor::of(ScalarType::Half, &[], &[2.3339844])],
        ),
        Case::refused(
            "integers",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Ints(&[0]), Bool(true), Bool(false)],
            Error::InvalidType,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    transfer::reshaped(args, Folded::argument(args, 1)?.shape(&args.tensor(0)?.shape(), args.bool(3)?)?)
}

/// The portable kernel of `correction_out` for the types in `D`.
pub fn correction_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let correction = args.optional_scalar(2)?.unwrap_or(Scalar::Int(1));
    variances::<D>(args, correction)
}

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    variances::<D>(args, Scalar::Bool(args.bool(2)?))
}

fn variances<const D: u32>(args: &Args<'_, '_>, correction: Scalar) -> Result<()> {
    let out = args.tensor(4)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => moment::store::<T>(args, correction, [&out, &out]))
}
