//! `aten::mean`: means along some or all dimensions, of floating-point type.

use et_core::Element;

use crate::family::divide::Divide;
use crate::family::total;
use crate::prelude::*;

/// `torch.mean`.
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

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let meta = total::meta(args, args.tensor(0)?.scalar_type())?;
    if meta.scalar_type.is_float() { Ok(meta) } else { Err(Error::InvalidType) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(4)?;
    out.resize(&infer(args, 0)?.shape)?;
    dispatch!(D, out.scalar_type(), floats, T => {
        total::store::<T, D>(args, &out, |sum, count| sum.divided(Element::from_i64(count as i64)))
    })
}
