//! Reductions over neighbouring dimensions: sum, mean, maximum, minimum.

use et_core::Result;
use et_simd::{Float, Level, Simd, Work};

use crate::check::{ensure, product};
use crate::rows::first;

/// The kind of reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The arithmetic mean.
    Mean,
    /// The maximum.
    Max,
    /// The minimum.
    Min,
}

/// Reduces the middle dimension of a tensor `[outer, count, inner]` to `[outer, inner]`. Global pooling of an NHWC
/// image is `[1, pixels, channels]`, a row reduction is `[rows, columns, 1]`. `count` is at least 1.
#[inline]
pub fn reduce(level: Level, reduction: Reduction, input: &[f32], sizes: [usize; 3], output: &mut [f32]) -> Result<()> {
    ensure(product(&sizes)? == input.len() && product(&[sizes[0], sizes[2]])? == output.len() && sizes[1] > 0)?;
    level.run(Reduce { reduction, input, sizes, output });
    Ok(())
}

/// Elements per partial sum: partial sums are accumulated separately, so that rounding errors grow slowly.
const RUN: usize = 64;

struct Reduce<'a> {
    reduction: Reduction,
    input: &'a [f32],
    sizes: [usize; 3],
    output: &'a mut [f32],
}

impl Work for Reduce<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        let [_, count, inner] = self.sizes;
        if inner == 1 {
            for (row, output) in self.input.chunks_exact(count).zip(self.output) {
                *output = self.reduction.row(isa, row);
            }
            return;
        }
        for (rows, output) in
            self.input.chunks_exact((count * inner).max(1)).zip(self.output.chunks_exact_mut(inner.max(1)))
        {
            for at in (0..inner).step_by(S::LANES) {
                isa.store(output, at, self.reduction.columns(isa, rows, inner, count, at));
            }
        }
    }
}

impl Reduction {
    #[inline(always)]
    fn start(self) -> f32 {
        match self {
            Self::Sum | Self::Mean => 0.0,
            Self::Max => f32::NEG_INFINITY,
            Self::Min => f32::INFINITY,
        }
    }

    /// Accumulates a vector. NaN propagates.
    #[inline(always)]
    fn join<S: Simd>(self, left: S::F32, right: S::F32) -> S::F32 {
        match self {
            Self::Sum | Self::Mean => left + right,
            Self::Max => left.max(right).select(left.is_equal(left), left),
            Self::Min => left.min(right).select(left.is_equal(left), left),
        }
    }

    /// Reduces the columns from `at` on.
    #[inline(always)]
    fn columns<S: Simd>(self, isa: S, rows: &[f32], inner: usize, count: usize, at: usize) -> S::F32 {
        let mut result = isa.splat(self.start());
        for run in rows.chunks(RUN * inner) {
            let mut part = isa.splat(self.start());
            for row in run.chunks_exact(inner) {
                part = self.join::<S>(part, isa.load(row, at));
            }
            result = self.join::<S>(result, part);
        }
        if self == Self::Mean { result / isa.splat(count as f32) } else { result }
    }

    /// Reduces a row.
    #[inline(always)]
    fn row<S: Simd>(self, isa: S, row: &[f32]) -> f32 {
        let start = isa.splat(self.start());
        let mut result = start;
        for run in row.chunks(RUN * S::LANES) {
            let mut part = start;
            for at in (0..run.len()).step_by(S::LANES) {
                let numbers = isa.load(run, at);
                let rest = run.len() - at;
                let numbers = if rest < S::LANES { numbers.select(first(isa, rest), start) } else { numbers };
                part = self.join::<S>(part, numbers);
            }
            result = self.join::<S>(result, part);
        }
        match self {
            Self::Sum => result.sum(),
            Self::Mean => result.sum() / row.len() as f32,
            Self::Max => nan_or::<S>(isa, result, result.greatest()),
            Self::Min => nan_or::<S>(isa, result, result.least()),
        }
    }
}

/// NaN if any lane is NaN, otherwise `other`.
#[inline(always)]
fn nan_or<S: Simd>(isa: S, lanes: S::F32, other: f32) -> f32 {
    let zero = isa.splat(0.0);
    let nans = zero.select(lanes.is_equal(lanes), isa.splat(1.0)).sum();
    if nans > 0.0 { f32::NAN } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use std::vec;
    use std::vec::Vec;

    /// A reference reduction.
    type Rule = fn(&[f64]) -> f64;

    const SIZES: [[usize; 3]; 9] =
        [[1, 1, 1], [3, 5, 1], [2, 200, 1], [1, 49, 96], [2, 3, 17], [3, 1, 8], [1, 300, 5], [0, 3, 4], [2, 5000, 1]];

    /// The elements that are reduced to an output element.
    fn groups<T: Copy>(input: &[T], [outer, count, inner]: [usize; 3]) -> Vec<Vec<T>> {
        let group = |index: usize| {
            let start = index / inner * count * inner + index % inner;
            (0..count).map(|at| input[start + at * inner]).collect()
        };
        (0..outer * inner).map(group).collect()
    }

    #[test]
    fn many_numbers_become_one() {
        for sizes in SIZES {
            let input = numbers(sizes.iter().product(), 1);
            let expected = |function: Rule| -> Vec<f64> {
                let groups = groups(&input, sizes).into_iter();
                groups.map(|group| function(&group.into_iter().map(f64::from).collect::<Vec<_>>())).collect()
            };
            let rules: [(Reduction, Rule); 4] = [
                (Reduction::Sum, |group| group.iter().sum()),
                (Reduction::Mean, |group| group.iter().sum::<f64>() / group.len() as f64),
                (Reduction::Max, |group| group.iter().copied().fold(f64::MIN, f64::max)),
                (Reduction::Min, |group| group.iter().copied().fold(f64::MAX, f64::min)),
            ];
            for (reduction, rule) in rules {
                let expected = expected(rule);
                for level in Level::available() {
                    let mut output = vec![9.0; expected.len()];
                    reduce(level, reduction, &input, sizes, &mut output).unwrap();
                    assert_close(&std::format!("{reduction:?} {sizes:?} {}", level.name()), &output, &expected, 3e-6);
                }
            }
        }
    }

    #[test]
    fn not_a_number_is_greatest_and_least() {
        for level in Level::available() {
            for place in [0, 3, 20] {
                let mut input = [1.0; 21];
                input[place] = f32::NAN;
                for reduction in [Reduction::Max, Reduction::Min] {
                    let mut output = [0.0];
                    reduce(level, reduction, &input, [1, 21, 1], &mut output).unwrap();
                    assert!(output[0].is_nan(), "{} {reduction:?} {place}", level.name());
                }
            }
        }
    }
}
