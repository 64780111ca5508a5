//! `aten::roll`: shifts elements along dimensions; elements that leave at the end reappear at the start.

use et_core::{Element, MAX_RANK, Tensor as Operand};

use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::family::{transfer, unary};
use crate::prelude::*;

/// `torch.roll`. Without dimensions, the elements are moved in row-major order.
#[cfg(feature = "catalogue")]
pub const ROLL: Operator = Operator {
    schema: "aten::roll.out(Tensor self, SymInt[1] shifts, int[1] dims=[], *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::roll",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[1]), Ints(&[1])],
            &[CaseTensor::float(&[2, 3], &[3.0, 1.0, 2.0, 6.0, 4.0, 5.0])],
        ),
        Case::exact(
            "both dimensions, one back",
            &[
                Tensor(CaseTensor::long(&[3, 4], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0])),
                Ints(&[1, -6]),
                Ints(&[0, -1]),
            ],
            &[CaseTensor::long(&[3, 4], &[10.0, 11.0, 8.0, 9.0, 2.0, 3.0, 0.0, 1.0, 6.0, 7.0, 4.0, 5.0])],
        ),
        Case::exact(
            "one dimension twice",
            &[Tensor(CaseTensor::long(&[4], &[1.0, 2.0, 3.0, 4.0])), Ints(&[1, 2]), Ints(&[0, 0])],
            &[CaseTensor::long(&[4], &[2.0, 3.0, 4.0, 1.0])],
        ),
        Case::exact(
            "in row-major order",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[-2]), Ints(&[])],
            &[CaseTensor::float(&[2, 3], &[3.0, 4.0, 5.0, 6.0, 1.0, 2.0])],
        ),
        Case::exact(
            "nothing",
            &[Tensor(CaseTensor::float(&[0, 2], &[])), Ints(&[1]), Ints(&[0])],
            &[CaseTensor::float(&[0, 2], &[])],
        ),
        Case::refused(
            "more shifts than dimensions",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[1, 2]), Ints(&[0])],
            Error::InvalidArgument,
        ),
        Case::refused(
            "several shifts without dimensions",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[1, 2]), Ints(&[])],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, shifts, dims, out) = (args.tensor(0)?, args.ints(1)?, args.ints(2)?, args.tensor(3)?);
    out.settle(|| Ok(input.shape()))?;
    match (&*shifts, &*dims) {
        ([shift], []) => dispatch!(D, out.scalar_type(), all, T => in_order::<T>(&input, *shift, &out)),
        _ if shifts.len() != dims.len() => Err(Error::InvalidArgument),
        _ => along::<D>(&input, &steps(&input.shape(), &shifts, &dims)?, &out),
    }
}

fn in_order<T: Element>(input: &Operand<'_>, shift: i64, out: &Operand<'_>) -> Result<()> {
    let (from, to, count) = (input.input::<T>()?, out.output::<T>()?, input.numel());
    let walk = || Walk::over(&input.shape(), [Place::of(input)]);
    let first = count - shift.checked_rem_euclid(count as i64).unwrap_or(0) as usize;
    let sources = walk()?.skip(first).chain(walk()?);
    let pairs = Walk::over(&out.shape(), [Place::of(out)])?.zip(sources);
    pairs.for_each(|([to_at], [from_at])| to.set(to_at, from.get(from_at)));
    Ok(())
}

/// The shift of each dimension, at least 0 and below the size.
fn steps(shape: &Shape, shifts: &[i64], dims: &[i64]) -> Result<[usize; MAX_RANK]> {
    let mut steps = [0; MAX_RANK];
    for (shift, dim) in shifts.iter().zip(dims) {
        let axis = shape.axis(*dim)?;
        let size = shape.around(axis)[1];
        let shift = shift.checked_rem_euclid(size as i64).unwrap_or(0) as usize;
        steps[axis] = (steps[axis] + shift).checked_rem(size).unwrap_or(0);
    }
    Ok(steps)
}

/// Each rolled dimension consists of two ranges, which change places; each combination of ranges is copied as a box.
fn along<const D: u32>(input: &Operand<'_>, steps: &[usize; MAX_RANK], out: &Operand<'_>) -> Result<()> {
    let moved = || (0..input.rank()).filter(|dim| steps[*dim] > 0);
    for choice in 0_u32..1 << moved().count() {
        let (mut shape, mut from, mut to) = (input.shape(), Place::of(input), Place::of(out));
        for (bit, dim) in moved().enumerate() {
            let (size, step) = (input.size(dim), steps[dim]);
            let is_end = choice >> bit & 1 == 1;
            shape.sizes_mut()[dim] = if is_end { step } else { size - step } as i32;
            if is_end {
                from = from.moved(dim, (size - step) as i64);
            } else {
                to = to.moved(dim, step as i64);
            }
        }
        transfer::region::<D>(&shape, (input, from), (out, to))?;
    }
    Ok(())
}
