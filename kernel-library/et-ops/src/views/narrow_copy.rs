//! `aten::narrow_copy`: a range of a dimension, by start and length.

use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.narrow_copy`.
#[cfg(feature = "catalogue")]
pub const NARROW_COPY: Operator = Operator {
    schema: "aten::narrow_copy.out(Tensor self, int dim, SymInt start, SymInt length, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::narrow_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(1), Int(1), Int(2)],
            &[CaseTensor::float(&[2, 2], &[2.0, 3.0, 5.0, 6.0])],
        ),
        Case::exact(
            "rows from the end",
            &[Tensor(CaseTensor::long(&[3], &[1.0, 2.0, 3.0])), Int(-1), Int(-2), Int(1)],
            &[CaseTensor::long(&[1], &[2.0])],
        ),
        Case::exact(
            "nothing at the end",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(0), Int(2), Int(0)],
            &[CaseTensor::float(&[0, 3], &[])],
        ),
        Case::refused(
            "beyond the end",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(1), Int(2), Int(2)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a scalar",
            &[Tensor(CaseTensor::float(&[], &[1.0])), Int(0), Int(0), Int(1)],
            Error::InvalidArgument,
        ),
    ],
};

/// The dimension and where the range starts.
fn start(args: &Args<'_, '_>) -> Result<(usize, i64)> {
    let (shape, start, length) = (args.tensor(0)?.shape(), args.int(2)?, args.int(3)?);
    let dim = shape.axis(args.int(1)?)?;
    let size = shape.size(dim) as i64;
    let start = if start < 0 { start + size } else { start };
    let inside = start >= 0 && (0..=size.saturating_sub(start)).contains(&length);
    if shape.rank() > 0 && inside { Ok((dim, start)) } else { Err(Error::InvalidArgument) }
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (dim, mut shape) = (start(args)?.0, args.tensor(0)?.shape());
    shape.sizes_mut()[dim] = args.int(3)? as i32;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, (dim, start)) = (args.tensor(0)?, args.tensor(4)?, start(args)?);
    let shape = infer(args, 0)?.shape;
    out.resize(&shape)?;
    transfer::region::<D>(&shape, (&input, Place::of(&input).moved(dim, start)), (&out, Place::of(&out)))
}
