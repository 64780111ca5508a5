//! Softmax of rows: `exp(x - max) / sum`.

use et_core::Result;
use et_simd::{Float, Level, Simd, Work, math};

use crate::check::ensure;
use crate::rows::{fold, load_or};

/// Softmax of each row of `columns` elements.
#[inline]
pub fn softmax(level: Level, input: &[f32], output: &mut [f32], columns: usize) -> Result<()> {
    ensure(columns > 0 && input.len() == output.len() && input.len().is_multiple_of(columns))?;
    level.run(Softmax { input, output, columns });
    Ok(())
}

struct Softmax<'a> {
    input: &'a [f32],
    output: &'a mut [f32],
    columns: usize,
}

impl Work for Softmax<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        for (input, output) in self.input.chunks_exact(self.columns).zip(self.output.chunks_exact_mut(self.columns)) {
            softmax_row(isa, input, output);
        }
    }
}

/// The softmax of a row.
#[inline(always)]
fn softmax_row<S: Simd>(isa: S, input: &[f32], output: &mut [f32]) {
    let sum = exponentials(isa, input, greatest(isa, input), output);
    let factor = isa.splat(1.0 / sum);
    for at in (0..output.len()).step_by(S::LANES) {
        let exponential = isa.load(output, at);
        isa.store(output, at, exponential * factor);
    }
}

#[inline(always)]
fn greatest<S: Simd>(isa: S, row: &[f32]) -> f32 {
    let greatest = fold::<S, 2>(
        isa,
        row,
        [isa.splat(f32::NEG_INFINITY); 2],
        #[inline(always)]
        |greatest, numbers| numbers.max(greatest),
    );
    greatest[0].max(greatest[1]).greatest()
}

/// Stores the exponentials and returns the sum.
#[inline(always)]
fn exponentials<S: Simd>(isa: S, input: &[f32], greatest: f32, output: &mut [f32]) -> f32 {
    let (greatest, filler) = (isa.splat(greatest), isa.splat(f32::NEG_INFINITY));
    let mut sum = isa.splat(0.0);
    for at in (0..input.len()).step_by(S::LANES) {
        let exponential = math::exp(isa, load_or(isa, input, at, filler) - greatest);
        isa.store(output, at, exponential);
        sum = sum + exponential;
    }
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{check, numbers};
    use std::vec::Vec;

    /// The softmax of rows, in double precision.
    fn plain(input: &[f32], columns: usize) -> Vec<f64> {
        let mut output = Vec::new();
        for row in input.chunks(columns) {
            let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let row: Vec<f64> = row.iter().map(|number| (f64::from(*number) - f64::from(greatest)).exp()).collect();
            let sum: f64 = row.iter().sum();
            output.extend(row.iter().map(|number| number / sum));
        }
        output
    }

    #[test]
    fn rows_are_probabilities() {
        for columns in (1..70).chain([127, 197, 1000]) {
            let input: Vec<f32> = numbers(3 * columns, 1).iter().map(|number| number * 30.0 - 40.0).collect();
            let expected = plain(&input, columns);
            check("rows", &expected, 1e-6, |level, output| softmax(level, &input, output, columns));
        }
    }

    #[test]
    fn what_is_masked_has_no_share() {
        let input = [f32::NEG_INFINITY, 2.0, f32::NEG_INFINITY, 2.0];
        check("a row", &[0.0, 0.5, 0.0, 0.5], 0.0, |level, output| softmax(level, &input, output, 4));
    }

    #[test]
    fn nothing_is_done_with_no_rows() {
        softmax(Level::Portable, &[], &mut [], 3).unwrap();
        assert!(softmax(Level::Portable, &[], &mut [], 0).is_err());
        assert!(softmax(Level::Portable, &[1.0; 4], &mut [0.0; 4], 3).is_err());
    }
}
