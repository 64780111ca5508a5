//! `aten::view_copy`: the same elements in logical order with a different shape. A size of -1 is inferred from the
//! rest.

use crate::family::{spatial, transfer};
use crate::prelude::*;

/// `torch.view_copy`.
#[cfg(feature = "catalogue")]
pub const VIEW_COPY: Operator = Operator {
    schema: "aten::view_copy.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::view_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a size left open",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[3, -1])],
            &[CaseTensor::float(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
        ),
        Case::exact(
            "to a scalar",
            &[Tensor(CaseTensor::bool(&[1, 1], &[1.0])), Ints(&[])],
            &[CaseTensor::bool(&[], &[1.0])],
        ),
        Case::exact(
            "nothing",
            &[Tensor(CaseTensor::long(&[0, 3], &[])), Ints(&[3, 0])],
            &[CaseTensor::long(&[3, 0], &[])],
        ),
        Case::refused(
            "another number of elements",
            &[Tensor(CaseTensor::float(&[4], &[1.0; 4])), Ints(&[3, -1])],
            Error::InvalidArgument,
        ),
        Case::refused(
            "two sizes left open",
            &[Tensor(CaseTensor::float(&[4], &[1.0; 4])), Ints(&[-1, -1])],
            Error::InvalidArgument,
        ),
    ],
};

pub(crate) fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (count, sizes) = (args.tensor(0)?.shape().numel()?, args.ints(1)?);
    let mut known = Shape::SCALAR;
    sizes.iter().filter(|size| **size != -1).try_for_each(|size| push(&mut known, *size))?;
    let known = known.numel()?;
    let left = count.checked_div(known).filter(|left| left * known == count);
    let mut shape = Shape::SCALAR;
    for size in sizes.iter() {
        let size = if *size == -1 { left.ok_or(Error::InvalidArgument)? as i64 } else { *size };
        push(&mut shape, size)?;
    }
    if shape.numel()? == count && sizes.iter().filter(|size| **size == -1).count() <= 1 {
        transfer::reshaped(args, shape)
    } else {
        Err(Error::InvalidArgument)
    }
}

fn push(shape: &mut Shape, size: i64) -> Result<()> {
    spatial::push(shape, spatial::natural(size)?)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    transfer::in_order::<D>(&input, &out)
}
