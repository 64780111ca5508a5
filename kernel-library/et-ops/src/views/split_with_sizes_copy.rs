//! `aten::split_with_sizes_copy`: pieces of the given sizes along a dimension.

use crate::family::transfer;
use crate::prelude::*;
use crate::views::pieces;

/// `torch.split_with_sizes_copy`.
#[cfg(feature = "catalogue")]
pub const SPLIT_WITH_SIZES_COPY: Operator = Operator {
    schema: "aten::split_with_sizes_copy.out(Tensor self, SymInt[] split_sizes, int dim=0, *, Tensor(a!)[] out) -> ()",
    functional: "aten::split_with_sizes_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[1, 0, 2]), Int(1)],
            &[
                CaseTensor::float(&[2, 1], &[1.0, 4.0]),
                CaseTensor::float(&[2, 0], &[]),
                CaseTensor::float(&[2, 2], &[2.0, 3.0, 5.0, 6.0]),
            ],
        ),
        Case::exact(
            "rows of bytes",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[3], &[7.0, 8.0, 9.0])), Ints(&[2, 1]), Int(-1)],
            &[CaseTensor::of(ScalarType::Byte, &[2], &[7.0, 8.0]), CaseTensor::of(ScalarType::Byte, &[1], &[9.0])],
        ),
        Case::refused(
            "sizes that leave a rest",
            &[Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0])), Ints(&[2]), Int(0)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a negative size",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Ints(&[-1]), Int(0)],
            Error::InvalidArgument,
        ),
    ],
};

/// The start of each piece along the dimension, and the piece's size.
fn spans<'a>(args: &'a Args<'_, '_>) -> Result<impl Iterator<Item = Result<(i64, i64)>> + 'a> {
    let count = args.ints_len(1)?;
    pieces::check_count(args, 3, count)?;
    let mut start = 0_i64;
    Ok((0..count).map(move |index| {
        let size = args.int_of(1, index)?;
        let end = start.checked_add(size).filter(|_| size >= 0).ok_or(Error::InvalidArgument)?;
        Ok((core::mem::replace(&mut start, end), size))
    }))
}

/// Refuses sizes whose sum is not the size of the dimension.
fn check_sum(args: &Args<'_, '_>) -> Result<()> {
    let (dim, mut end) = (pieces::cut_dim(args, 2)?, 0);
    for span in spans(args)? {
        let (start, size) = span?;
        end = start + size;
    }
    if end == args.tensor(0)?.size(dim) as i64 { Ok(()) } else { Err(Error::InvalidArgument) }
}

fn piece(args: &Args<'_, '_>, size: i64) -> Result<Meta> {
    let (dim, mut shape) = (pieces::cut_dim(args, 2)?, args.tensor(0)?.shape());
    shape.sizes_mut()[dim] = size as i32;
    transfer::reshaped(args, shape)
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    check_sum(args)?;
    piece(args, args.int_of(1, index)?)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    check_sum(args)?;
    let dim = pieces::cut_dim(args, 2)?;
    for (index, span) in spans(args)?.enumerate() {
        let ((start, size), out) = (span?, args.tensor_of(3, index)?);
        out.resize(&piece(args, size)?.shape)?;
        pieces::cut::<D>(args, (dim, start), &out)?;
    }
    Ok(())
}
