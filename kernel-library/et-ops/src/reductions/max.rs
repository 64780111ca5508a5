//! `aten::max`: the maximum of a tensor, or the maxima along a dimension with the index of the first of equal elements.

use core::cmp::Ordering;

use crate::family::extremum;
use crate::family::reduce::Folded;
use crate::prelude::*;

/// `torch.max` along a dimension.
#[cfg(feature = "catalogue")]
pub const MAX_DIM: Operator = Operator {
    schema: "aten::max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) max_values) \
             -> (Tensor(a!) values, Tensor(b!) indices)",
    functional: "aten::max.dim",
    path: kernel_path!(dim_max),
    dtypes: Dtypes::ALL,
    infer,
    kernel: dim_max::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 3.0, 3.0, -4.0, f64::NAN, -4.0])), Int(-1), Bool(false)],
            &[CaseTensor::float(&[2], &[3.0, f64::NAN]), CaseTensor::long(&[2], &[1.0, 1.0])],
        ),
        Case::exact(
            "columns of booleans",
            &[Tensor(CaseTensor::bool(&[2, 2], &[0.0, 1.0, 1.0, 0.0])), Int(0), Bool(true)],
            &[CaseTensor::bool(&[1, 2], &[1.0, 1.0]), CaseTensor::long(&[1, 2], &[1.0, 0.0])],
        ),
        Case::refused(
            "beyond the end",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.max` of a whole tensor.
#[cfg(feature = "catalogue")]
pub const MAX: Operator = Operator {
    schema: "aten::max.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::max",
    path: kernel_path!(unary_out),
    dtypes: Dtypes::ALL,
    infer: extremum::meta_of_all,
    kernel: unary_out::<ALL>,
    cases: &[
        Case::exact(
            "rows and columns",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 3.0, -4.0, 2.0]))],
            &[CaseTensor::float(&[], &[3.0])],
        ),
        Case::exact(
            "what is not a number wins",
            &[Tensor(CaseTensor::float(&[3], &[1.0, f64::NAN, f64::NEG_INFINITY]))],
            &[CaseTensor::float(&[], &[f64::NAN])],
        ),
        Case::exact("booleans", &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))], &[CaseTensor::bool(&[], &[1.0])]),
        Case::exact(
            "signed bytes",
            &[Tensor(CaseTensor::of(ScalarType::Char, &[2, 1], &[-128.0, 127.0]))],
            &[CaseTensor::of(ScalarType::Char, &[], &[127.0])],
        ),
        Case::refused("of nothing", &[Tensor(CaseTensor::float(&[0], &[]))], Error::InvalidArgument),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let folded = extremum::dimension(args)?;
    if index == 0 { extremum::meta(args, folded) } else { extremum::meta_of_indices(args, folded) }
}

/// The portable kernel for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn dim_max<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, shape) = (args.tensor(0)?, infer(args, 0)?.shape);
    args.tensor(3)?.resize(&shape)?;
    args.tensor(4)?.resize(&shape)?;
    dispatch!(D, input.scalar_type(), all, T => extremum::store_both::<T>(args, Ordering::Greater))
}

/// The portable kernel of a whole tensor for the types in `D`.
pub fn unary_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    out.settle(|| Ok(extremum::meta_of_all(args, 0)?.shape))?;
    dispatch!(D, input.scalar_type(), all, T => {
        extremum::store_extremes::<T>(&input, Folded::ALL, &out, Ordering::Greater)
    })
}
