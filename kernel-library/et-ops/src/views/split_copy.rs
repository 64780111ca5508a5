//! `aten::split_copy`: pieces of equal size along a dimension; the last may be smaller.

use crate::family::transfer;
use crate::prelude::*;
use crate::views::pieces;

/// `torch.split_copy` into pieces of equal size.
#[cfg(feature = "catalogue")]
pub const SPLIT_COPY: Operator = Operator {
    schema: "aten::split_copy.Tensor_out(Tensor self, SymInt split_size, int dim=0, *, Tensor(a!)[] out) -> ()",
    functional: "aten::split_copy.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "a smaller last piece",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(2), Int(-1)],
            &[CaseTensor::float(&[2, 2], &[1.0, 2.0, 4.0, 5.0]), CaseTensor::float(&[2, 1], &[3.0, 6.0])],
        ),
        Case::exact(
            "one piece that is smaller than the size",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Int(5), Int(0)],
            &[CaseTensor::long(&[2], &[1.0, 2.0])],
        ),
        Case::exact(
            "nothing in pieces of nothing",
            &[Tensor(CaseTensor::bool(&[0, 2], &[])), Int(0), Int(0)],
            &[CaseTensor::bool(&[0, 2], &[])],
        ),
        Case::refused(
            "pieces of nothing",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Int(0), Int(0)],
            Error::InvalidArgument,
        ),
        Case::refused("a scalar", &[Tensor(CaseTensor::float(&[], &[1.0])), Int(1), Int(0)], Error::InvalidArgument),
    ],
};

/// The start of piece `index` along the dimension, and the piece's dtype and shape.
fn piece(args: &Args<'_, '_>, index: usize) -> Result<(i64, Meta)> {
    let (dim, size, mut shape) = (pieces::cut_dim(args, 2)?, args.int(1)?, args.tensor(0)?.shape());
    let whole = shape.size(dim) as i64;
    let count = match (whole, size) {
        (0, 0..) => 1,
        (_, 1..) => 1 + (whole - 1) / size,
        _ => return Err(Error::InvalidArgument),
    };
    pieces::check_count(args, 3, count as usize)?;
    let start = size.saturating_mul(index as i64);
    shape.sizes_mut()[dim] = size.min(whole.saturating_sub(start)) as i32;
    Ok((start, transfer::reshaped(args, shape)?))
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    piece(args, index).map(|(_, meta)| meta)
}

/// The portable kernel for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let dim = pieces::cut_dim(args, 2)?;
    piece(args, 0)?;
    for index in 0..args.tensors_len(3)? {
        let ((start, meta), out) = (piece(args, index)?, args.tensor_of(3, index)?);
        out.resize(&meta.shape)?;
        pieces::cut::<D>(args, (dim, start), &out)?;
    }
    Ok(())
}
