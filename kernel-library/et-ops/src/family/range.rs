//! Chooses the qparams of a block from its minimum, its maximum and 0.

use et_core::{Element, Input, Result, Tensor};

use super::affine::Range;
use super::block::{Block, Blocks};
use super::real::Real;
use crate::math::Math;

/// The minimum and the maximum of a block, extended to include 0. NaN if any element is NaN.
#[derive(Clone, Copy, Debug)]
pub struct Extent<T> {
    /// The minimum, at most 0.
    pub lowest: T,
    /// The maximum, at least 0.
    pub highest: T,
}

impl<T: Real> Extent<T> {
    fn of(elements: Input<'_, T>, block: &Block<1>) -> Result<Self> {
        let mut extent = Self { lowest: T::ZERO, highest: T::ZERO };
        block.for_each(|[at]| {
            let element = elements.get(at);
            // A comparison with NaN is false, so that the first NaN replaces and then stays.
            if (element.is_nan() || element < extent.lowest) && !extent.lowest.is_nan() {
                extent.lowest = element;
            }
            if (element.is_nan() || element > extent.highest) && !extent.highest.is_nan() {
                extent.highest = element;
            }
        })?;
        Ok(extent)
    }

    /// The maximum minus the minimum.
    pub fn width(self) -> T {
        T::narrow(self.highest.widen() - self.lowest.widen())
    }

    /// The greater distance from 0.
    pub fn magnitude(self) -> T {
        let below = self.lowest.negated();
        if below > self.highest || below.is_nan() { below } else { self.highest }
    }

    /// The zero point that maps the minimum to the least integer, under `scale`.
    pub fn zero_point(self, range: Range, scale: T) -> i64 {
        let quotient = T::narrow(self.lowest.widen() / scale.widen()).widen().round_ties_even();
        range.lowest.saturating_sub(quotient.to_i64()).clamp(range.lowest, range.highest)
    }
}

/// `length / steps`, but at least `least`, computed in `T` as PyTorch does.
pub fn scale<T: Real>(length: T, steps: f64, least: f64) -> T {
    at_least(T::narrow(length.widen() / <T::Wide as Element>::from_f64(steps)), least)
}

/// NaN stays.
fn at_least<T: Real>(scale: T, least: f64) -> T {
    let least = T::from_f64(least);
    if scale < least { least } else { scale }
}

/// Calls `visit` with the extent of each block, in the row-major order of the grid.
pub fn extents<T: Real>(
    input: &Tensor<'_>,
    blocks: &Blocks,
    mut visit: impl FnMut(Extent<T>) -> Result<()>,
) -> Result<()> {
    let elements = input.input::<T>()?;
    for block in blocks.walk([input])? {
        visit(Extent::of(elements, &block)?)?;
    }
    Ok(())
}
