//! The mean over neighbouring dimensions.

use et_core::Result;
use et_simd::{Float, Level, Simd, Work};

use crate::check::{ensure, product};
use crate::rows::fold;

/// The mean over the middle dimension of a tensor `[outer, count, inner]`, an `[outer, inner]` tensor. Global pooling of an
/// NHWC image is `[1, pixels, channels]`, the mean of rows is `[rows, columns, 1]`. `count` is at least 1.
#[inline]
pub fn mean(level: Level, input: &[f32], sizes: [usize; 3], output: &mut [f32]) -> Result<()> {
    ensure(product(&sizes)? == input.len() && product(&[sizes[0], sizes[2]])? == output.len() && sizes[1] > 0)?;
    level.run(Mean { input, sizes, output });
    Ok(())
}

/// Elements per partial sum: partial sums are accumulated separately, so that rounding errors grow slowly.
const RUN: usize = 64;

struct Mean<'a> {
    input: &'a [f32],
    sizes: [usize; 3],
    output: &'a mut [f32],
}

impl Work for Mean<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        let [_, count, inner] = self.sizes;
        if inner == 1 {
            for (row, output) in self.input.chunks_exact(count).zip(self.output) {
                *output = mean_of_row(isa, row);
            }
            return;
        }
        for (rows, output) in
            self.input.chunks_exact((count * inner).max(1)).zip(self.output.chunks_exact_mut(inner.max(1)))
        {
            for at in (0..inner).step_by(S::LANES) {
                isa.store(output, at, mean_of_columns(isa, rows, inner, count, at));
            }
        }
    }
}

/// The means of a vector of columns from `at` on.
#[inline(always)]
fn mean_of_columns<S: Simd>(isa: S, rows: &[f32], inner: usize, count: usize, at: usize) -> S::F32 {
    let mut result = isa.splat(0.0);
    for run in rows.chunks(RUN * inner) {
        let mut part = isa.splat(0.0);
        for row in run.chunks_exact(inner) {
            part = part + isa.load(row, at);
        }
        result = result + part;
    }
    result / isa.splat(count as f32)
}

#[inline(always)]
fn mean_of_row<S: Simd>(isa: S, row: &[f32]) -> f32 {
    let mut result = isa.splat(0.0);
    for run in row.chunks(RUN * S::LANES) {
        let [part] = fold::<S, 1>(
            isa,
            run,
            [isa.splat(0.0); 2],
            #[inline(always)]
            |sum, numbers| sum + numbers,
        );
        result = result + part;
    }
    result.sum() / row.len() as f32
}

#[cfg(test)]
mod tests {
    use crate::test::{check, numbers};
    use std::vec::Vec;

    const SIZES: [[usize; 3]; 9] =
        [[1, 1, 1], [3, 5, 1], [2, 200, 1], [1, 49, 96], [2, 3, 17], [3, 1, 8], [1, 300, 5], [0, 3, 4], [2, 5000, 1]];

    #[test]
    fn means_are_sums_divided_by_counts() {
        for [outer, count, inner] in SIZES {
            let input = numbers(outer * count * inner, 1);
            let mean = |index: usize| {
                let start = index / inner * count * inner + index % inner;
                (0..count).map(|at| f64::from(input[start + at * inner])).sum::<f64>() / count as f64
            };
            let expected: Vec<f64> = (0..outer * inner).map(mean).collect();
            let what = std::format!("[{outer}, {count}, {inner}]");
            check(&what, &expected, 3e-6, |level, output| super::mean(level, &input, [outer, count, inner], output));
        }
    }
}
