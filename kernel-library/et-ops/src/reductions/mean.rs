//! `aten::mean`: means along some or all dimensions, of floating-point type.

use et_core::Element;

use crate::family::divide::Divide;
use crate::family::reduce::Folded;
use crate::prelude::*;
use crate::reductions::total;

/// `torch.mean`.
#[cfg(feature = "catalogue")]
pub const MEAN: Operator = Operator {
    schema: "aten::mean.out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) \
             -> Tensor(a!)",
    functional: "aten::mean.dim",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows and columns of an image",
            &[
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, 2.0, 3.0, 5.0])),
                Ints(&[-1, -2]),
                Bool(true),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 2, 1, 1], &[1.5, 4.0])],
        ),
        Case::exact(
            "integers as another type",
            &[
                Tensor(CaseTensor::long(&[2], &[1.0, 2.0])),
                CaseArgument::None,
                Bool(false),
                CaseArgument::Type(ScalarType::Double),
            ],
            &[CaseTensor::of(ScalarType::Double, &[], &[1.5])],
        ),
        Case::exact(
            "of nothing",
            &[Tensor(CaseTensor::float(&[0], &[])), Ints(&[]), Bool(false), CaseArgument::None],
            &[CaseTensor::float(&[], &[f64::NAN])],
        ),
        Case::refused(
            "integers",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Ints(&[0]), Bool(false), CaseArgument::None],
            Error::InvalidType,
        ),
    ],
};

/// `torch.mean` of a whole tensor.
#[cfg(feature = "catalogue")]
pub const MEAN_ALL: Operator = Operator {
    schema: "aten::mean.dtype_out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::mean",
    path: kernel_path!(dtype_out),
    dtypes: Dtypes::ALL,
    infer: infer_all,
    kernel: dtype_out::<ALL>,
    cases: &[
        Case::exact(
            "rows and columns",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 5.0])), CaseArgument::None],
            &[CaseTensor::float(&[], &[2.75])],
        ),
        Case::exact(
            "integers as another type",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), CaseArgument::Type(ScalarType::Half)],
            &[CaseTensor::of(ScalarType::Half, &[], &[1.5])],
        ),
        Case::exact(
            "of nothing",
            &[Tensor(CaseTensor::float(&[0], &[])), CaseArgument::None],
            &[CaseTensor::float(&[], &[f64::NAN])],
        ),
        Case::refused(
            "integers",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), CaseArgument::None],
            Error::InvalidType,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let meta = total::meta(args, args.tensor(0)?.scalar_type())?;
    if meta.scalar_type.is_float() { Ok(meta) } else { Err(Error::InvalidType) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(4)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => {
        total::store::<T, D>(args, &out, |sum, count| sum.divided(Element::from_i64(count as i64)))
    })
}

/// The portable kernel of `dtype_out` for the types in `D`.
pub fn dtype_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    out.settle(|| Ok(infer_all(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => {
        total::store_folded::<T, D>(&input, Folded::ALL, &out, |sum, count| {
            sum.divided(Element::from_i64(count as i64))
        })
    })
}

fn infer_all(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let scalar_type = args.optional_scalar_type(1)?.unwrap_or(args.tensor(0)?.scalar_type());
    if scalar_type.is_float() { Ok(Meta { scalar_type, shape: Shape::SCALAR }) } else { Err(Error::InvalidType) }
}
