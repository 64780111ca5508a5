//! `aten::expand_copy`: repeats dimensions of size 1. A size of -1 keeps the size of the input.

use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.expand_copy`.
#[cfg(feature = "catalogue")]
pub const EXPAND_COPY: Operator = Operator {
    schema: "aten::expand_copy.out(Tensor self, SymInt[] size, *, bool implicit=False, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::expand_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a new dimension and an old one",
            &[Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])), Ints(&[2, -1, 2]), Bool(false)],
            &[CaseTensor::float(&[2, 2, 2], &[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0])],
        ),
        Case::exact(
            "a scalar",
            &[Tensor(CaseTensor::long(&[], &[5.0])), Ints(&[2]), Bool(true)],
            &[CaseTensor::long(&[2], &[5.0, 5.0])],
        ),
        Case::refused(
            "a size that is not 1",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Ints(&[4]), Bool(false)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a new dimension without a size",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Ints(&[-1, 2]), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, sizes) = (args.tensor(0)?, args.ints(1)?);
    let own = input.shape();
    let missing = sizes.len().checked_sub(own.rank()).ok_or(Error::InvalidArgument)?;
    let mut shape = Shape::SCALAR;
    for (dim, size) in sizes.iter().enumerate() {
        let size = if *size == -1 && dim >= missing { own.size(dim - missing) as i64 } else { *size };
        shape.push(i32::try_from(size).map_err(|_| Error::InvalidArgument)?)?;
    }
    Place::broadcast(&input, &shape)?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, shape) = (args.tensor(0)?, args.tensor(3)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    transfer::region::<D>(&shape, (&input, Place::broadcast(&input, &shape)?), (&out, Place::of(&out)))
}
