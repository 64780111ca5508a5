//! `aten::median`: the median; the lower of two middle elements. A NaN element makes the median NaN.

use crate::family::extremum::{self, dimension};
use crate::family::pool::values_or_indices;
use crate::family::reduce::Folded;
use crate::ordering::middle;
use crate::prelude::*;

/// `torch.median` along a dimension, with indices: the first of equal elements.
#[cfg(feature = "catalogue")]
pub const MEDIAN_DIM: Operator = Operator {
    schema: "aten::median.dim_values(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, \
             Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)",
    functional: "aten::median.dim",
    path: kernel_path!(dim_values),
    dtypes: Dtypes::NUMBERS,
    infer: infer_along,
    kernel: dim_values::<ALL>,
    cases: &[
        Case::exact(
            "rows of even length",
            &[Tensor(CaseTensor::float(&[2, 4], &[4.0, 1.0, 3.0, 2.0, 5.0, f64::NAN, 6.0, 7.0])), Int(-1), Bool(false)],
            &[CaseTensor::float(&[2], &[2.0, f64::NAN]), CaseTensor::long(&[2], &[3.0, 1.0])],
        ),
        Case::exact(
            "columns of integers, kept",
            &[Tensor(CaseTensor::long(&[3, 2], &[5.0, 0.0, 3.0, 2.0, 4.0, 1.0])), Int(0), Bool(true)],
            &[CaseTensor::long(&[1, 2], &[4.0, 1.0]), CaseTensor::long(&[1, 2], &[2.0, 2.0])],
        ),
        Case::refused(
            "nothing",
            &[Tensor(CaseTensor::float(&[2, 0], &[])), Int(1), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.median` of all elements.
#[cfg(feature = "catalogue")]
pub const MEDIAN: Operator = Operator {
    schema: "aten::median.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::median",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer: infer_all,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "an odd number with equals",
            &[Tensor(CaseTensor::float(&[5], &[7.0, 2.0, 9.0, 2.0, 2.0]))],
            &[CaseTensor::float(&[], &[2.0])],
        ),
        Case::exact(
            "a matrix of bytes",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[2, 2], &[200.0, 3.0, 100.0, 4.0]))],
            &[CaseTensor::of(ScalarType::Byte, &[], &[4.0])],
        ),
    ],
};

fn infer_along(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    extremum::meta(args, dimension(args)?).map(|values| values_or_indices(values, index))
}

/// The portable kernel for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn dim_values<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, values, indices) = (args.tensor(0)?, args.tensor(3)?, args.tensor(4)?);
    let shape = infer_along(args, 0)?.shape;
    values.resize(&shape)?;
    indices.resize(&shape)?;
    dispatch!(D, input.scalar_type(), numbers, T => {
        let (from, to, places) = (input.input::<T>()?, values.output::<T>()?, indices.output::<i64>()?);
        dimension(args)?.for_each(&input, [&values, &indices], |lane, [value_at, index_at]| {
            let (value, index) = middle::find(from, &lane)?;
            to.set(value_at, value);
            places.set(index_at, index as i64);
            Ok(())
        })
    })
}

fn infer_all(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let input = args.tensor(0)?;
    if input.shape().numel()? == 0 {
        return Err(Error::InvalidArgument);
    }
    Ok(Meta { scalar_type: input.scalar_type(), shape: Shape::SCALAR })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    out.settle(|| Ok(infer_all(args, 0)?.shape))?;
    dispatch!(D, input.scalar_type(), numbers, T => {
        let (from, to) = (input.input::<T>()?, out.output::<T>()?);
        Folded::ALL.for_each(&input, [&out], |lane, [at]| {
            to.set(at, middle::find(from, &lane)?.0);
            Ok(())
        })
    })
}
