//! `aten::constant_pad_nd`: pads a tensor with `value`. Pairs of widths start at the innermost dimension; negative
//! widths crop.

use crate::family::fill::fill;
use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;
use crate::views::margin::padded;

/// `torch.constant_pad_nd`.
#[cfg(feature = "catalogue")]
pub const CONSTANT_PAD_ND: Operator = Operator {
    schema: "aten::constant_pad_nd.out(Tensor self, SymInt[] pad, Scalar value=0, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::constant_pad_nd",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns and rows",
            &[Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])), Ints(&[1, 0, 0, 1]), Double(0.5)],
            &[CaseTensor::float(&[2, 3], &[0.5, 1.0, 2.0, 0.5, 0.5, 0.5])],
        ),
        Case::exact(
            "cropped at the start",
            &[Tensor(CaseTensor::long(&[3], &[1.0, 2.0, 3.0])), Ints(&[-1, 2]), Int(9)],
            &[CaseTensor::long(&[4], &[2.0, 3.0, 9.0, 9.0])],
        ),
        Case::refused(
            "half a pair",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Ints(&[1]), Int(0)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "cropped to less than nothing",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Ints(&[-1, -1]), Int(0)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (mut shape, pad) = (args.tensor(0)?.shape(), args.ints(1)?);
    if pad.len() % 2 != 0 || pad.len() / 2 > shape.rank() {
        return Err(Error::InvalidArgument);
    }
    for (size, widths) in shape.sizes_mut().iter_mut().rev().zip(pad.chunks_exact(2)) {
        let padded = padded(*size, widths).and_then(|padded| i32::try_from(padded).ok()).filter(|padded| *padded >= 0);
        *size = padded.ok_or(Error::InvalidArgument)?;
    }
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(3)?);
    fill::<D>(&out, &infer(args, 0)?.shape, args.scalar(2)?)?;
    let (mut shape, mut from, mut to) = (input.shape(), Place::of(&input), Place::of(&out));
    for (dim, widths) in (0..shape.rank()).rev().zip(args.ints(1)?.chunks_exact(2)) {
        let kept = i64::from(shape.sizes()[dim]) + widths[0].min(0) + widths[1].min(0);
        shape.sizes_mut()[dim] = kept.max(0) as i32;
        from = from.moved(dim, (-widths[0]).max(0));
        to = to.moved(dim, widths[0].max(0));
    }
    transfer::region::<D>(&shape, (&input, from), (&out, to))
}
