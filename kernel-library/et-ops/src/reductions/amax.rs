//! `aten::amax`: the greatest elements along some or all dimensions.

use core::cmp::Ordering;

use crate::family::extremum;
use crate::prelude::*;

/// `torch.amax`.
#[cfg(feature = "catalogue")]
pub const AMAX: Operator = Operator {
    schema: "aten::amax.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::amax",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns; what is not a number wins",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, f64::NAN, 3.0, 4.0, 5.0, -6.0])), Ints(&[0]), Bool(false)],
            &[CaseTensor::float(&[3], &[4.0, f64::NAN, 3.0])],
        ),
        Case::exact(
            "all of a byte tensor",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[1, 3], &[7.0, 200.0, 9.0])), Ints(&[]), Bool(true)],
            &[CaseTensor::of(ScalarType::Byte, &[1, 1], &[200.0])],
        ),
        Case::refused(
            "of nothing",
            &[Tensor(CaseTensor::float(&[0], &[])), Ints(&[0]), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    extremum::meta_of_values(args)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(3)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), all, T => extremum::store_values::<T>(args, &out, Ordering::Greater))
}
