//! `aten::diagonal_copy`: the diagonal of two dimensions, as the last dimension.

use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.diagonal_copy`.
#[cfg(feature = "catalogue")]
pub const DIAGONAL_COPY: Operator = Operator {
    schema: "aten::diagonal_copy.out(Tensor self, int offset=0, int dim1=0, int dim2=1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::diagonal_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "the main one",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(0), Int(0), Int(1)],
            &[CaseTensor::float(&[2], &[1.0, 5.0])],
        ),
        Case::exact(
            "above",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(1), Int(0), Int(1)],
            &[CaseTensor::float(&[2], &[2.0, 6.0])],
        ),
        Case::exact(
            "below, of the outer dimensions",
            &[
                Tensor(CaseTensor::long(&[3, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0])),
                Int(-1),
                Int(0),
                Int(-1),
            ],
            &[CaseTensor::long(&[2, 2], &[4.0, 9.0, 6.0, 11.0])],
        ),
        Case::exact(
            "one outside",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(5), Int(0), Int(1)],
            &[CaseTensor::float(&[0], &[])],
        ),
        Case::refused(
            "one dimension twice",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(0), Int(1), Int(-1)],
            Error::InvalidArgument,
        ),
    ],
};

/// The two dimensions, the start of the diagonal in each, and the length of the diagonal.
struct Diagonal {
    dims: [usize; 2],
    starts: [i64; 2],
    length: i64,
}

fn diagonal(args: &Args<'_, '_>) -> Result<Diagonal> {
    let (shape, offset) = (args.tensor(0)?.shape(), args.int(1)?);
    let dims = [shape.axis(args.int(2)?)?, shape.axis(args.int(3)?)?];
    if dims[0] == dims[1] {
        return Err(Error::InvalidArgument);
    }
    let starts = [offset.saturating_neg().max(0), offset.max(0)];
    let left = |end: usize| (shape.size(dims[end]) as i64).saturating_sub(starts[end]);
    Ok(Diagonal { dims, starts, length: left(0).min(left(1)).max(0) })
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (Diagonal { dims, length, .. }, mut shape) = (diagonal(args)?, Shape::SCALAR);
    let sizes = args.tensor(0)?.shape();
    let others = sizes.sizes().iter().enumerate().filter(|(dim, _)| !dims.contains(dim));
    others.map(|(_, size)| *size).chain([length as i32]).try_for_each(|size| shape.push(size))?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, shape) = (args.tensor(0)?, args.tensor(4)?, infer(args, 0)?.shape);
    let Diagonal { dims: [first, second], starts, .. } = diagonal(args)?;
    out.resize(&shape)?;
    let others = (0..input.rank()).filter(|dim| ![first, second].contains(dim));
    let mut from = Place::of(&input).moved(first, starts[0]).moved(second, starts[1]);
    from.strides[first] = from.strides[first].wrapping_add(from.strides[second]);
    transfer::region::<D>(&shape, (&input, from.with_dims(others.chain([first]))), (&out, Place::of(&out)))
}
