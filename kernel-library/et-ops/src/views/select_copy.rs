//! `aten::select_copy`: the elements at an index of a dimension, without that dimension.

use crate::family::place::Place;
use crate::family::reduce::Folded;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.select_copy`.
#[cfg(feature = "catalogue")]
pub const SELECT_COPY: Operator = Operator {
    schema: "aten::select_copy.int_out(Tensor self, int dim, SymInt index, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::select_copy.int",
    path: kernel_path!(int_out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: int_out::<ALL>,
    cases: &[
        Case::exact(
            "a column",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(1), Int(-1)],
            &[CaseTensor::float(&[2], &[3.0, 6.0])],
        ),
        Case::exact(
            "an element",
            &[Tensor(CaseTensor::bool(&[2], &[0.0, 1.0])), Int(0), Int(1)],
            &[CaseTensor::bool(&[], &[1.0])],
        ),
        Case::refused(
            "an index out of range",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Int(0), Int(2)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (shape, dim) = (args.tensor(0)?.shape(), args.int(1)?);
    selected(&shape, shape.axis(dim)?, args.int(2)?)?;
    transfer::reshaped(args, Folded::of(&shape, &[dim])?.shape(&shape, false)?)
}

/// The index, counted from the start.
fn selected(shape: &Shape, dim: usize, index: i64) -> Result<i64> {
    let size = shape.size(dim) as i64;
    if shape.rank() > 0 && (-size..size).contains(&index) {
        Ok(index.rem_euclid(size))
    } else {
        Err(Error::InvalidArgument)
    }
}

/// The portable kernel for the types in `D`.
pub fn int_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, meta) = (args.tensor(0)?, args.tensor(3)?, infer(args, 0)?);
    out.resize(&meta.shape)?;
    let shape = input.shape();
    let dim = shape.axis(args.int(1)?)?;
    let from = Place::of(&input).moved(dim, selected(&shape, dim, args.int(2)?)?);
    let others = (0..shape.rank()).filter(|other| *other != dim);
    transfer::region::<D>(&meta.shape, (&input, from.with_dims(others)), (&out, Place::of(&out)))
}
