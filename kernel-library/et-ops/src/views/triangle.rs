//! Triangular matrices: elements on the far side of a diagonal become 0.

use et_core::{Args, Element, Error, Result};

use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::operator::dispatch;

/// Copies the elements for which `keep(column - row, diagonal)`, and puts 0 elsewhere: arguments `self, diagonal, out`.
pub fn keep<const D: u32>(args: &Args<'_, '_>, keep: fn(i64, i64) -> bool) -> Result<()> {
    let out = args.tensor(2)?;
    out.settle(|| Ok(args.tensor(0)?.shape()))?;
    dispatch!(D, out.scalar_type(), all, T => side::<T>(args, keep))
}

fn side<T: Element>(args: &Args<'_, '_>, keep: fn(i64, i64) -> bool) -> Result<()> {
    let (input, diagonal, out) = (args.tensor(0)?, args.int(1)?, args.tensor(2)?);
    let (from, to, shape) = (input.input::<T>()?, out.output::<T>()?, input.shape());
    let [.., rows, columns] = *shape.sizes() else { return Err(Error::InvalidArgument) };
    let (rows, columns) = (i64::from(rows), i64::from(columns));
    let walk = Walk::over(&shape, [Place::of(&input), Place::of(&out)])?;
    for (index, [from_at, to_at]) in (0_i64..).zip(walk) {
        let distance = index % columns - index / columns % rows;
        to.set(to_at, if keep(distance, diagonal) { from.get(from_at) } else { T::from_i64(0) });
    }
    Ok(())
}
