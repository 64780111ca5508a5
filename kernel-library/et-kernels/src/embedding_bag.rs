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
const AHEAD: usize = 8;

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
        for (bag, output) in range.zip(output.chunks_exact_mut(bags.width)) {
            let positions = bags.positions(bag)?;
            output.fill(0.0);
            let mut size = 0_usize;
            for position in positions {
                bags.fetch(isa, position + AHEAD);
                let Some(row) = bags.row(position)? else { continue };
                match (bags.reduction, bags.weights) {
                    (Reduction::Max, _) if size == 0 => output.copy_from_slice(row),
                    (Reduction::Max, _) => combine(isa, output, row, |most, element| element.max(most)),
                    (_, None) => combine(isa, output, row, |sum, element| sum + element),
                    (_, Some(weights)) => {
                        let weight = isa.splat(weights[position]);
                        combine(isa, output, row, |sum, element| element.mul_add(weight, sum));
                    }
                }
                size += 1;
            }
            if bags.reduction == Reduction::Mean && size > 1 {
                let size = isa.splat(size as f32);
                for at in (0..output.len()).step_by(S::LANES) {
                    isa.store(output, at, isa.load(output, at) / size);
                }
            }
        }
        Ok(())
    }
}

impl Bags<'_> {
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

/// Replaces each element of a bag by a function of it and the element of a row.
#[inline(always)]
fn combine<S: Simd>(isa: S, bag: &mut [f32], row: &[f32], function: impl Fn(S::F32, S::F32) -> S::F32) {
    for at in (0..row.len()).step_by(S::LANES) {
        isa.store(bag, at, function(isa.load(bag, at), isa.load(row, at)));
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
        for bag in 0..OFFSETS.len() {
            let end = OFFSETS.get(bag + 1).map_or(bags.indices.len(), |end| *end as usize);
            let kept: Vec<usize> = (OFFSETS[bag] as usize..end)
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
