//! `aten::masked_select`: a vector of the elements at which the mask is true.

use et_core::{Element, Tensor as Operand};

use crate::family::walk::Walk;
use crate::family::{choice, transfer};
use crate::prelude::*;

/// `torch.masked_select`.
#[cfg(feature = "catalogue")]
pub const MASKED_SELECT: Operator = Operator {
    schema: "aten::masked_select.out(Tensor self, Tensor mask, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::masked_select",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::bounded(
            "some elements",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::bool(&[2, 3], &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0])),
            ],
            &[CaseTensor::float(&[3], &[1.0, 3.0, 6.0])],
        ),
        Case::bounded(
            "a mask that broadcasts",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Tensor(CaseTensor::bool(&[3, 1], &[1.0, 0.0, 1.0]))],
            &[CaseTensor::long(&[4], &[1.0, 2.0, 1.0, 2.0])],
        ),
        Case::bounded(
            "none",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::bool(&[2], &[0.0, 0.0]))],
            &[CaseTensor::float(&[0], &[])],
        ),
        Case::exact(
            "all",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::bool(&[2], &[1.0, 1.0]))],
            &[CaseTensor::float(&[2], &[1.0, 2.0])],
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::bool(&[3], &[1.0, 0.0, 1.0]))],
            Error::InvalidArgument,
        ),
    ],
};

/// The upper bound is the number of elements, unless the caller states a tighter bound.
fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let most = args.tensor(0)?.shape().broadcast(&args.tensor(1)?.shape())?.numel()?;
    transfer::reshaped(args, choice::shape(args, 2, Shape::new(&[most as i32])?)?)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, mask, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    dispatch!(D, out.scalar_type(), all, T => select::<T>(&input, &mask, &out))
}

fn select<T: Element>(input: &Operand<'_>, mask: &Operand<'_>, out: &Operand<'_>) -> Result<()> {
    let (from, keep) = (input.input::<T>()?, mask.input::<bool>()?);
    let shape = input.shape().broadcast(&mask.shape())?;
    let kept = || Ok(Walk::new(&shape, [input, mask])?.filter(|[_, mask_at]| keep.get(*mask_at)));
    out.resize(&Shape::new(&[kept()?.count() as i32])?)?;
    let to = out.output::<T>()?;
    kept()?.enumerate().for_each(|(index, [from_at, _])| to.set(index, from.get(from_at)));
    Ok(())
}
