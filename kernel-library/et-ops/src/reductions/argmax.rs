//! `aten::argmax`: the index of the greatest element, the first of equals, along a dimension or in the whole tensor.

use core::cmp::Ordering;

use crate::family::extremum;
use crate::prelude::*;

/// `torch.argmax`.
#[cfg(feature = "catalogue")]
pub const ARGMAX: Operator = Operator {
    schema: "aten::argmax.out(Tensor self, int? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::argmax",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 3.0, 3.0, -4.0, f64::NAN, -4.0])), Int(1), Bool(true)],
            &[CaseTensor::long(&[2, 1], &[1.0, 1.0])],
        ),
        Case::exact(
            "the whole tensor",
            &[
                Tensor(CaseTensor::of(ScalarType::Int, &[2, 2], &[1.0, 2.0, 4.0, -3.0])),
                CaseArgument::None,
                Bool(false),
            ],
            &[CaseTensor::long(&[], &[2.0])],
        ),
        Case::refused(
            "of nothing",
            &[Tensor(CaseTensor::float(&[0], &[])), Int(0), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    extremum::meta_of_indices(args, extremum::dimension(args)?)
}

/// The portable kernel for inputs of the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(3)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, input.scalar_type(), numbers, T => extremum::store_indices::<T>(args, &out, Ordering::Greater))
}
