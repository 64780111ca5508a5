//! `aten::unsqueeze_copy`: inserts a dimension of size 1.

use crate::family::transfer;
use crate::prelude::*;

/// `torch.unsqueeze_copy`.
#[cfg(feature = "catalogue")]
pub const UNSQUEEZE_COPY: Operator = Operator {
    schema: "aten::unsqueeze_copy.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::unsqueeze_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "in the middle",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), Int(1)],
            &[CaseTensor::float(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0])],
        ),
        Case::exact(
            "at the end of a scalar",
            &[Tensor(CaseTensor::long(&[], &[7.0])), Int(-1)],
            &[CaseTensor::long(&[1], &[7.0])],
        ),
        Case::refused("beyond the end", &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(2)], Error::InvalidArgument),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let input = args.tensor(0)?.shape();
    let (rank, dim) = (input.rank() as i64 + 1, args.int(1)?);
    let dim = if dim < 0 { dim + rank } else { dim };
    if !(0..rank).contains(&dim) {
        return Err(Error::InvalidArgument);
    }
    let (before, after) = input.sizes().split_at(dim as usize);
    let mut shape = Shape::new(before)?;
    shape.push(1)?;
    after.iter().try_for_each(|size| shape.push(*size))?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    transfer::in_order::<D>(&input, &out)
}
