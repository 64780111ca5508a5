//! Reflection and replication padding: each output position is read from an input position.

use et_core::{Args, Element, Error, Result, Shape, Tensor};

use crate::Meta;
use crate::family::spatial::Volume;
use crate::family::transfer;
use crate::operator::dispatch;

/// The content of the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Margin {
    /// The image in a mirror that stands on the outermost element.
    Reflection,
    /// The outermost element.
    Replication,
}

impl Margin {
    /// The position inside `0..size` that is seen at `position`.
    const fn source(self, position: i64, size: i64) -> i64 {
        match self {
            _ if 0 <= position && position < size => position,
            Self::Reflection if position < 0 => -position,
            Self::Reflection => 2 * (size - 1) - position,
            Self::Replication if position < 0 => 0,
            Self::Replication => size - 1,
        }
    }

    /// Whether a margin of this width can be filled; a negative width crops.
    const fn reaches(self, width: i64, size: i64) -> bool {
        match self {
            Self::Reflection => width < size,
            Self::Replication => true,
        }
    }
}

/// The first argument with margins at the last `dims` dimensions, whose widths are argument 1, innermost dimension first.
pub fn meta(args: &Args<'_, '_>, margin: Margin, dims: usize) -> Result<Meta> {
    let (input, widths) = (args.tensor(0)?, args.ints(1)?);
    Volume::new(&input, dims)?;
    let mut shape = input.shape();
    if widths.len() != 2 * dims || is_empty(&shape, dims) {
        return Err(Error::InvalidArgument);
    }
    for (size, widths) in shape.sizes_mut().iter_mut().rev().zip(widths.chunks_exact(2)) {
        let own = i64::from(*size);
        let padded = padded(*size, widths)
            .filter(|padded| *padded >= 1 && widths.iter().all(|width| margin.reaches(*width, own)));
        *size = padded.and_then(|padded| i32::try_from(padded).ok()).ok_or(Error::InvalidArgument)?;
    }
    transfer::reshaped(args, shape)
}

/// A size with margins of these widths; `None` for a width that is no difference of sizes.
pub fn padded(size: i32, widths: &[i64]) -> Option<i64> {
    widths.iter().try_fold(i64::from(size), |size, width| Some(size + i64::from(i32::try_from(*width).ok()?)))
}

/// Whether a dimension, not counting the batch, has no elements.
fn is_empty(shape: &Shape, dims: usize) -> bool {
    shape.sizes().iter().skip(shape.rank() - dims - 1).any(|size| *size == 0)
}

/// The kernel of arguments `self, padding, out`.
pub fn pad<const D: u32>(args: &Args<'_, '_>, margin: Margin, dims: usize) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    out.settle(|| Ok(meta(args, margin, dims)?.shape))?;
    let mut before = [0; 3];
    for (slot, widths) in before.iter_mut().rev().zip(args.ints(1)?.chunks_exact(2)) {
        *slot = widths[0];
    }
    dispatch!(D, out.scalar_type(), stored, T => fill::<T>(margin, [&input, &out], dims, before))
}

fn fill<T: Element>(margin: Margin, [input, out]: [&Tensor<'_>; 2], dims: usize, before: [i64; 3]) -> Result<()> {
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Volume::new(input, dims)?, Volume::new(out, dims)?);
    let extent = image.extent().map(|size| size as i64);
    out_image.for_each_pixel(|pixel @ [batch, channel, at @ ..]| {
        let source = core::array::from_fn(|dim| margin.source(at[dim] as i64 - before[dim], extent[dim]) as usize);
        to.set(out_image.offset(pixel), from.get(image.channel(batch, channel) + image.pixel(source)));
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_stands_on_the_outermost_element() {
        let seen = |margin: Margin| [-2, -1, 0, 2, 3, 4].map(|position| margin.source(position, 3));
        assert_eq!(seen(Margin::Reflection), [2, 1, 0, 2, 1, 0]);
        assert_eq!(seen(Margin::Replication), [0, 0, 0, 2, 2, 2]);
    }
}
