//! `aten::repeat`: the tensor side by side with itself, `repeats` times along each dimension.

use crate::family::place::Place;
use crate::family::transfer;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.Tensor.repeat`.
#[cfg(feature = "catalogue")]
pub const REPEAT: Operator = Operator {
    schema: "aten::repeat.out(Tensor self, SymInt[] repeats, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::repeat",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a new dimension and an old one",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Ints(&[2, 2])],
            &[CaseTensor::float(&[2, 4], &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0])],
        ),
        Case::exact(
            "rows",
            &[Tensor(CaseTensor::bool(&[1, 2], &[1.0, 0.0])), Ints(&[3, 1])],
            &[CaseTensor::bool(&[3, 2], &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0])],
        ),
        Case::exact(
            "never",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Ints(&[0])],
            &[CaseTensor::long(&[0], &[])],
        ),
        Case::refused(
            "fewer repeats than dimensions",
            &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Ints(&[2])],
            Error::InvalidArgument,
        ),
    ],
};

/// The number of repeats of each dimension, and the input's shape extended to the same rank.
fn blocks(args: &Args<'_, '_>) -> Result<[Shape; 2]> {
    let (own, repeats) = (args.tensor(0)?.shape(), args.ints(1)?);
    let missing = repeats.len().checked_sub(own.rank()).ok_or(Error::InvalidArgument)?;
    let (mut count, mut block) = (Shape::SCALAR, Shape::SCALAR);
    for (dim, repeat) in repeats.iter().enumerate() {
        count.push(i32::try_from(*repeat).map_err(|_| Error::InvalidArgument)?)?;
        block.push(if dim < missing { 1 } else { own.sizes()[dim - missing] })?;
    }
    Ok([count, block])
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let [count, block] = blocks(args)?;
    let mut shape = Shape::SCALAR;
    for (count, size) in count.sizes().iter().zip(block.sizes()) {
        shape.push(count.checked_mul(*size).ok_or(Error::InvalidArgument)?)?;
    }
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, [count, block]) = (args.tensor(0)?, args.tensor(2)?, blocks(args)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    if out.numel() == 0 {
        // However often nothing is repeated.
        return Ok(());
    }
    let (from, to) = (Place::broadcast(&input, &block)?, Place::of(&out));
    let starts = (0..block.rank()).fold(to, |place, dim| place.stepped(dim, block.size(dim) as i64));
    let mut walk = Walk::over(&count, [starts])?;
    walk.try_for_each(|[start]| transfer::region::<D>(&block, (&input, from), (&out, to.at(start))))
}
