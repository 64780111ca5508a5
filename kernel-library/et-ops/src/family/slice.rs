//! Slices: every `step`-th position of a range of a dimension. Negative bounds count from the end; bounds are clamped.

use et_core::{Args, Error, Result, Shape};

use super::place::Place;

/// The dimension, the start of the range, the step and the number of positions.
pub struct Slice {
    dim: usize,
    start: i64,
    step: i64,
    count: i64,
}

impl Slice {
    /// The slice that the arguments `dim, start, end, step` from `position` on select in a tensor of this shape.
    pub fn of(shape: &Shape, args: &Args<'_, '_>, position: usize) -> Result<Self> {
        let (dim, step) = (shape.axis(args.int(position)?)?, args.int(position + 3)?);
        if step <= 0 || shape.rank() == 0 {
            return Err(Error::InvalidArgument);
        }
        let size = shape.size(dim) as i64;
        let clamp = |bound: i64| (if bound < 0 { bound + size } else { bound }).clamp(0, size);
        let start = clamp(args.optional_int(position + 1)?.unwrap_or(0));
        let end = clamp(args.optional_int(position + 2)?.unwrap_or(size)).max(start);
        let distance = end - start;
        Ok(Self { dim, start, step, count: distance / step + i64::from(distance % step != 0) })
    }

    /// The shape of the range of a tensor of `whole` shape.
    #[must_use]
    pub fn shape(&self, whole: &Shape) -> Shape {
        let mut shape = *whole;
        if let Some(size) = shape.sizes_mut().get_mut(self.dim) {
            *size = self.count as i32;
        }
        shape
    }

    /// The place of the slice, given the place of the whole tensor.
    #[must_use]
    pub const fn place(&self, whole: Place) -> Place {
        whole.moved(self.dim, self.start).stepped(self.dim, self.step)
    }
}
