//! Softmax of rows: `exp(x - max) / sum`.

use et_core::Result;
use et_simd::{Float, Isa, Level, Work, math};

use crate::rows::{Row, Rows};

/// Softmax of each row of `columns` elements.
#[inline]
pub fn softmax(level: Level, input: &[f32], output: &mut [f32], columns: usize) -> Result<()> {
    level.run(Softmax(Rows::apart(input, output, columns)?));
    Ok(())
}

/// [`softmax`], in place.
#[inline]
pub fn softmax_in_place(level: Level, rows: &mut [f32], columns: usize) -> Result<()> {
    level.run(Softmax(Rows::in_place(rows, columns)?));
    Ok(())
}

struct Softmax<'a>(Rows<'a>);

impl Work for Softmax<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) {
        for index in 0..self.0.count {
            softmax_row(isa, &self.0.row(index), self.0.columns);
        }
    }
}

/// The softmax of a row.
#[inline(always)]
pub(crate) fn softmax_row<S: Isa>(isa: S, row: &Row, columns: usize) {
    let greatest = greatest(isa, row, columns);
    let sum = exponentials(isa, row, columns, greatest);
    let factor = isa.splat(1.0 / sum);
    for at in (0..columns).step_by(S::LANES) {
        row.write(isa, at, row.read_back(isa, at) * factor);
    }
}

#[inline(always)]
fn greatest<S: Isa>(isa: S, row: &Row, columns: usize) -> f32 {
    let filler = isa.splat(f32::NEG_INFINITY);
    let mut greatest = [filler; 2];
    for at in (0..columns).step_by(2 * S::LANES) {
        for (part, greatest) in greatest.iter_mut().enumerate() {
            *greatest = row.read(isa, at + part * S::LANES, filler).max(*greatest);
        }
    }
    greatest[0].max(greatest[1]).greatest()
}

/// Stores the exponentials and returns the sum.
#[inline(always)]
fn exponentials<S: Isa>(isa: S, row: &Row, columns: usize, greatest: f32) -> f32 {
    let (greatest, filler) = (isa.splat(greatest), isa.splat(f32::NEG_INFINITY));
    let mut sum = isa.splat(0.0);
    for at in (0..columns).step_by(S::LANES) {
        let exponential = math::exp(isa, row.read(isa, at, filler) - greatest);
        row.write(isa, at, exponential);
        sum = sum + exponential;
    }
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use std::vec;
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
        for level in Level::available() {
            for columns in (1..70).chain([127, 197, 1000]) {
                let input: Vec<f32> = numbers(3 * columns, 1).iter().map(|number| number * 30.0 - 40.0).collect();
                let expected = plain(&input, columns);
                let (mut output, mut in_place) = (vec![0.0; input.len()], input.clone());
                softmax(level, &input, &mut output, columns).unwrap();
                assert_close(level.name(), &output, &expected, 1e-6);
                softmax_in_place(level, &mut in_place, columns).unwrap();
                assert_eq!(in_place, output, "{}", level.name());
            }
        }
    }

    #[test]
    fn what_is_masked_has_no_share() {
        for level in Level::available() {
            let mut row = [f32::NEG_INFINITY, 2.0, f32::NEG_INFINITY, 2.0];
            softmax_in_place(level, &mut row, 4).unwrap();
            assert_eq!(row, [0.0, 0.5, 0.0, 0.5], "{}", level.name());
        }
    }

    #[test]
    fn nothing_is_done_with_no_rows() {
        softmax(Level::Portable, &[], &mut [], 3).unwrap();
        assert!(softmax(Level::Portable, &[], &mut [], 0).is_err());
        assert!(softmax(Level::Portable, &[1.0; 4], &mut [0.0; 4], 3).is_err());
    }
}
