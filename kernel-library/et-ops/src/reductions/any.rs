//! `aten::any`: whether any element is not 0. The answer for `uint8` is a `uint8`.

use et_core::Element;

use crate::family::extremum::dimension;
use crate::family::reduce::Folded;
use crate::prelude::*;

/// `torch.any` along a dimension.
#[cfg(feature = "catalogue")]
pub const ANY: Operator = Operator {
    schema: "aten::any.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::any.dim",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: infer_dim,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[Tensor(CaseTensor::float(&[2, 2], &[0.0, 0.25, 0.0, -0.0])), Int(1), Bool(false)],
            &[CaseTensor::bool(&[2], &[1.0, 0.0])],
        ),
        Case::exact(
            "bytes",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[2, 1], &[0.0, 7.0])), Int(0), Bool(true)],
            &[CaseTensor::of(ScalarType::Byte, &[1, 1], &[1.0])],
        ),
        Case::refused(
            "beyond the end",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Int(1), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.any` of a whole tensor.
#[cfg(feature = "catalogue")]
pub const ANY_ALL: Operator = Operator {
    schema: "aten::any.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::any",
    path: kernel_path!(all_out),
    dtypes: Dtypes::ALL,
    infer: infer_all,
    kernel: all_out::<ALL>,
    cases: &[
        Case::exact(
            "what is not a number is not 0",
            &[Tensor(CaseTensor::float(&[2, 1], &[0.0, f64::NAN]))],
            &[CaseTensor::bool(&[], &[1.0])],
        ),
        Case::exact("nothing", &[Tensor(CaseTensor::long(&[0], &[]))], &[CaseTensor::bool(&[], &[0.0])]),
        Case::exact("zeros", &[Tensor(CaseTensor::long(&[2], &[0.0; 2]))], &[CaseTensor::bool(&[], &[0.0])]),
    ],
};

/// `torch.any` along some dimensions; an absent list reduces every dimension, an empty list reduces no dimension.
#[cfg(feature = "catalogue")]
pub const ANY_DIMS: Operator = Operator {
    schema: "aten::any.dims_out(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::any.dims",
    path: kernel_path!(dims_out),
    dtypes: Dtypes::ALL,
    infer: infer_dims,
    kernel: dims_out::<ALL>,
    cases: &[
        Case::exact(
            "two dimensions",
            &[Tensor(CaseTensor::float(&[2, 1, 2], &[0.0, 0.5, 0.0, -0.0])), Ints(&[0, -2]), Bool(false)],
            &[CaseTensor::bool(&[2], &[0.0, 1.0])],
        ),
        Case::exact(
            "all",
            &[Tensor(CaseTensor::long(&[2, 2], &[0.0, 1.0, 0.0, 0.0])), CaseArgument::None, Bool(true)],
            &[CaseTensor::bool(&[1, 1], &[1.0])],
        ),
        Case::exact(
            "none",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2, 2], &[0.0, 1.0, 2.0, 0.0])), Ints(&[]), Bool(false)],
            &[CaseTensor::bool(&[2, 2], &[0.0, 1.0, 1.0, 0.0])],
        ),
        Case::exact(
            "bytes",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[1, 2], &[0.0, 7.0])), Ints(&[1]), Bool(false)],
            &[CaseTensor::of(ScalarType::Byte, &[1], &[1.0])],
        ),
        Case::exact(
            "nothing",
            &[Tensor(CaseTensor::float(&[0, 2], &[])), Ints(&[0]), Bool(false)],
            &[CaseTensor::bool(&[2], &[0.0, 0.0])],
        ),
        Case::refused(
            "a dimension twice",
            &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Ints(&[0, 0]), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer_dim(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    meta(args, dimension(args)?, args.bool(2)?)
}

fn infer_all(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    meta(args, Folded::ALL, false)
}

fn meta(args: &Args<'_, '_>, folded: Folded, keep: bool) -> Result<Meta> {
    let input = args.tensor(0)?;
    let answer = if input.scalar_type() == ScalarType::Byte { ScalarType::Byte } else { ScalarType::Bool };
    Ok(Meta { scalar_type: answer, shape: folded.shape(&input.shape(), keep)? })
}

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(3)?;
    out.settle(|| Ok(infer_dim(args, 0)?.shape))?;
    answer::<D>(&args.tensor(0)?, dimension(args)?, &out)
}

/// The portable kernel of `all_out` for the types in `D`.
pub fn all_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(1)?;
    out.settle(|| Ok(infer_all(args, 0)?.shape))?;
    answer::<D>(&args.tensor(0)?, Folded::ALL, &out)
}

fn answer<const D: u32>(input: &et_core::Tensor<'_>, folded: Folded, out: &et_core::Tensor<'_>) -> Result<()> {
    // A `bool` is a byte that is 0 or 1, so both kinds of answer are written alike.
    let to = out.bytes_mut()?;
    dispatch!(D, input.scalar_type(), all, T => {
        let from = input.input::<T>()?;
        folded.for_each(input, [out], |mut lane, [at]| {
            to.set(at, u8::from(lane.any(|offset| from.get(offset) != T::from_i64(0))));
            Ok(())
        })
    })
}

/// The portable kernel of `dims_out` for the types in `D`.
pub fn dims_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(3)?;
    out.settle(|| Ok(infer_dims(args, 0)?.shape))?;
    answer::<D>(&args.tensor(0)?, dimensions(args)?, &out)
}

fn infer_dims(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    meta(args, dimensions(args)?, args.bool(2)?)
}

fn dimensions(args: &Args<'_, '_>) -> Result<Folded> {
    args.optional_ints(1)?.map_or(Ok(Folded::ALL), |dims| Folded::of(&args.tensor(0)?.shape(), &dims))
}
