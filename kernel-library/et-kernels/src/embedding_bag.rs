//! Embedding bags: the sum, mean or greatest elements of the rows of a table that a bag of indices selects.

use core::ops::Range;

use et_core::{Error, Result};
use et_simd::{Float, Level, Simd, Work};

use crate::check::{ensure, product};

/// How the rows of a bag are reduced. An empty bag is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum, by the weights of the indices if there are some.
    Sum,
    /// The mean.
    Mean,
    /// The greatest element of each column.
    Max,
}

/// Bags of indices to the rows of a table.
#[derive(Clone, Copy, Debug)]
pub struct Bags<'a> {
    /// The table, `[rows, width]`.
    pub table: &'a [f32],
    /// Elements of a row.
    pub width: usize,
    /// The indices of all bags.
    pub indices: &'a [i64],
    /// The first index of each bag; a bag ends where the next one begins, if any.
    pub offsets: &'a [i64],
    /// A factor for each index of a sum.
    pub weights: Option<&'a [f32]>,
    /// The reduction.
    pub reduction: Reduction,
    /// The row that counts for nothing, if any.
    pub skipped: Option<usize>,
}

/// Rows of the table that are fetched ahead of their sum.
const AHEAD: usize = 16;

/// Vectors of a bag that are reduced at a time.
const VECTORS: usize = 4;

/// Bytes of a row that are fetched ahead: the processor fetches the lines behind them.
const MOST_FETCHED: usize = 512;

/// Computes a range of bags, `[bags, width]`. Fails for an index outside of the table, and for offsets that decrease.
#[inline]
pub fn reduce(level: Level, bags: &Bags<'_>, range: Range<usize>, output: &mut [f32]) -> Result<()> {
    ensure(bags.width > 0 && bags.table.len().is_multiple_of(bags.width))?;
    ensure(range.start <= range.end && range.end <= bags.offsets.len())?;
    ensure(output.len() == product(&[range.len(), bags.width])?)?;
    ensure(bags.weights.is_none_or(|weights| weights.len() == bags.indices.len()))?;
    level.run(Reduce { bags, range, output })
}

struct Reduce<'a> {
    bags: &'a Bags<'a>,
    range: Range<usize>,
    output: &'a mut [f32],
}

impl Work for Reduce<'_> {
    type Output = Result<()>;
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) -> Result<()> {
        let Self { bags, range, output } = self;
        let (zero, least) = (isa.splat(0.0), isa.splat(f32::NEG_INFINITY));
        for (bag, output) in range.zip(output.chunks_exact_mut(bags.width)) {
            let positions = bags.positions(bag)?;
            for at in (0..bags.width).step_by(VECTORS * S::LANES) {
                let positions = positions.clone();
                let (sums, size) = match (bags.reduction, bags.weights) {
                    (Reduction::Max, _) => {
                        bags.columns(isa, positions, at, least, |most, element, _| element.max(most))
                    }
                    (_, None) => bags.columns(isa, positions, at, zero, |sum, element, _| sum + element),
                    (_, Some(weights)) => bags.columns(isa, positions, at, zero, |sum, element, position| {
                        element.mul_add(isa.splat(weights[position]), sum)
                    }),
                }?;
                let size = match (size, bags.reduction) {
                    (0, Reduction::Max) => None,
                    (_, Reduction::Mean) => Some(size.max(1)),
                    _ => Some(1),
                };
                for (vector, sum) in sums.into_iter().enumerate() {
                    let result = size.map_or(zero, |size| sum / isa.splat(size as f32));
                    isa.store(output, at + vector * S::LANES, result);
                }
            }
        }
        Ok(())
    }
}

impl Bags<'_> {
    /// Some columns of a bag from `at` on, in registers, and the rows that count.
    #[inline(always)]
    fn columns<S: Simd>(
        &self,
        isa: S,
        positions: Range<usize>,
        at: usize,
        first: S::F32,
        function: impl Fn(S::F32, S::F32, usize) -> S::F32,
    ) -> Result<([S::F32; VECTORS], usize)> {
        let (mut sums, mut size) = ([first; VECTORS], 0);
        for position in positions {
            if at == 0 {
                self.fetch(isa, position + AHEAD);
            }
            let Some(row) = self.row(position)? else { continue };
            for (vector, sum) in sums.iter_mut().enumerate() {
                *sum = function(*sum, isa.load(row, at + vector * S::LANES), position);
            }
            size += 1;
        }
        Ok((sums, size))
    }

    /// The positions of the indices of a bag.
    #[inline(always)]
    fn positions(&self, bag: usize) -> Result<Range<usize>> {
        let count = self.indices.len();
        let at = |bag: usize| self.offsets.get(bag).map_or(Ok(count), |offset| usize::try_from(*offset));
        let (Ok(start), Ok(end)) = (at(bag), at(bag + 1)) else { return Err(Error::InvalidArgument) };
        // A bag whose offset lies behind that of the next one is empty, as in PyTorch.
        if start <= count && end <= count { Ok(start..end) } else { Err(Error::InvalidArgument) }
    }

    /// The row of an index; `None` for the row that counts for nothing.
    #[inline(always)]
    fn row(&self, position: usize) -> Result<Option<&[f32]>> {
        let row = usize::try_from(self.indices[position]).map_err(|_| Error::InvalidArgument)?;
        let start = row.checked_mul(self.width).ok_or(Error::InvalidArgument)?;
        let found = self.table.get(start..).and_then(|rest| rest.get(..self.width)).ok_or(Error::InvalidArgument)?;
        Ok((self.skipped != Some(row)).then_some(found))
    }

    /// Fetches the row of an index into the cache.
    #[inline(always)]
    fn fetch<S: Simd>(&self, isa: S, position: usize) {
        let Some(index) = self.indices.get(position) else { return };
        let start = (*index as usize).wrapping_mul(self.width);
        let bytes = (self.width * size_of::<f32>()).min(MOST_FETCHED);
        isa.prefetch_near(self.table.as_ptr().wrapping_add(start).cast(), bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::test::{check, numbers};

    const ROWS: usize = 7;
    const OFFSETS: [i64; 4] = [0, 3, 3, 8];

    fn expected(bags: &Bags<'_>) -> Vec<f64> {
        let mut output = Vec::new();
        for (bag, start) in OFFSETS.iter().enumerate() {
            let end = OFFSETS.get(bag + 1).map_or(bags.indices.len(), |end| *end as usize);
            let kept: Vec<usize> = (*start as usize..end)
                .filter(|position| Some(bags.indices[*position] as usize) != bags.skipped)
                .collect();
            for column in 0..bags.width {
                let element = |position: &usize| {
                    let factor = bags.weights.map_or(1.0, |weights| f64::from(weights[*position]));
                    f64::from(bags.table[bags.indices[*position] as usize * bags.width + column]) * factor
                };
                let elements = kept.iter().map(element);
                output.push(match bags.reduction {
                    _ if kept.is_empty() => 0.0,
                    Reduction::Sum => elements.sum(),
                    Reduction::Mean => elements.sum::<f64>() / kept.len() as f64,
                    Reduction::Max => elements.fold(f64::NEG_INFINITY, f64::max),
                });
            }
        }
        output
    }

    #[test]
    fn bags_are_reduced_as_their_offsets_say() {
        for (width, reduction, is_weighted, skipped) in [
            (19, Reduction::Sum, true, None),
            (16, Reduction::Sum, false, Some(2)),
            (3, Reduction::Mean, false, Some(6)),
            (37, Reduction::Max, false, Some(0)),
        ] {
            let (table, weights) = (numbers(ROWS * width, 1), numbers(11, 2));
            let indices: Vec<i64> = (0..11).map(|position| position * 5 % ROWS as i64).collect();
            let weights = is_weighted.then_some(&weights[..]);
            let bags = Bags { table: &table, width, indices: &indices, offsets: &OFFSETS, weights, reduction, skipped };
            check("bags", &expected(&bags), 1e-6, |level, output| reduce(level, &bags, 0..4, output));
        }
    }

    #[test]
    fn indices_and_offsets_out_of_range_are_refused() {
        let of = |indices: &[i64], offsets: &[i64]| {
            let (table, reduction) = ([1.0; 6], Reduction::Max);
            let bags = Bags { table: &table, width: 2, indices, offsets, weights: None, reduction, skipped: None };
            reduce(Level::Portable, &bags, 0..1, &mut [0.0; 2])
        };
        assert!(of(&[2, 0], &[0]).is_ok() && of(&[2, 0], &[1, 0]).is_ok());
        assert!(of(&[3], &[0]).is_err() && of(&[-1], &[0]).is_err() && of(&[i64::MAX], &[0]).is_err());
        assert!(of(&[0], &[2]).is_err() && of(&[0], &[-1]).is_err() && of(&[0], &[0, 9]).is_err());
    }
}
