//! LayerNorm and RMSNorm of rows.
#![allow(unsafe_code)] // Whole vectors are read without a check of each.

use et_core::Result;
use et_simd::{Float, Isa, Level, Work};

use crate::check::ensure;
use crate::rows::{Row, Rows};

/// A normalization of rows.
#[derive(Clone, Copy, Debug)]
pub struct Normalization<'a> {
    /// Whether the mean is subtracted (LayerNorm) or not (RMSNorm).
    pub centered: bool,
    /// The epsilon added to the variance or mean square.
    pub epsilon: f32,
    /// The weight per column.
    pub weight: Option<&'a [f32]>,
    /// The bias per column.
    pub bias: Option<&'a [f32]>,
}

impl Normalization<'_> {
    pub(crate) fn fits(&self, columns: usize) -> bool {
        self.weight.is_none_or(|weight| weight.len() == columns) && self.bias.is_none_or(|bias| bias.len() == columns)
    }
}

/// Normalizes each row of `columns` elements: `(x - mean) / sqrt(variance + epsilon) * weight + bias`.
#[inline]
pub fn normalize(
    level: Level,
    input: &[f32],
    normalization: &Normalization,
    output: &mut [f32],
    columns: usize,
) -> Result<()> {
    ensure(normalization.fits(columns))?;
    level.run(Normalize { rows: Rows::apart(input, output, columns)?, normalization });
    Ok(())
}

/// [`normalize`], in place.
#[inline]
pub fn normalize_in_place(level: Level, rows: &mut [f32], normalization: &Normalization, columns: usize) -> Result<()> {
    ensure(normalization.fits(columns))?;
    level.run(Normalize { rows: Rows::in_place(rows, columns)?, normalization });
    Ok(())
}

/// Adds `addend` to `sum` and normalizes the rows of the result: a fused residual addition.
#[inline]
pub fn add_and_normalize(
    level: Level,
    sum: &mut [f32],
    addend: &[f32],
    normalization: &Normalization,
    output: &mut [f32],
    columns: usize,
) -> Result<()> {
    ensure(normalization.fits(columns) && sum.len() == output.len())?;
    Rows::apart(addend, sum, columns)?;
    level.run(AddAndNormalize { sum, addend, normalization, output, columns });
    Ok(())
}

struct Normalize<'a> {
    rows: Rows<'a>,
    normalization: &'a Normalization<'a>,
}

impl Work for Normalize<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) {
        for index in 0..self.rows.count {
            normalize_row(isa, &self.rows.row(index), self.normalization, self.rows.columns);
        }
    }
}

struct AddAndNormalize<'a> {
    sum: &'a mut [f32],
    addend: &'a [f32],
    normalization: &'a Normalization<'a>,
    output: &'a mut [f32],
    columns: usize,
}

impl Work for AddAndNormalize<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) {
        let columns = self.columns;
        let rows = self.sum.chunks_exact_mut(columns).zip(self.addend.chunks_exact(columns));
        for ((sum, addend), output) in rows.zip(self.output.chunks_exact_mut(columns)) {
            for at in (0..columns).step_by(S::LANES) {
                let added = isa.load(sum, at) + isa.load(addend, at);
                isa.store(sum, at, added);
            }
            let Ok(rows) = Rows::apart(sum, output, columns) else { return };
            normalize_row(isa, &rows.row(0), self.normalization, columns);
        }
    }
}

/// Normalizes a row.
#[inline(always)]
pub(crate) fn normalize_row<S: Isa>(isa: S, row: &Row, normalization: &Normalization, columns: usize) {
    let count = columns as f32;
    let mean = if normalization.centered { sum(isa, row, columns) / count } else { 0.0 };
    let variance = sum_of_squares(isa, row, columns, mean) / count;
    let factor = isa.splat(1.0) / isa.splat(variance + normalization.epsilon).sqrt();
    let (mean, zero) = (isa.splat(mean), isa.splat(0.0));
    for at in (0..columns).step_by(S::LANES) {
        let mut result = (row.read(isa, at, zero) - mean) * factor;
        result = match (normalization.weight, normalization.bias) {
            (Some(weight), Some(bias)) => result.mul_add(isa.load(weight, at), isa.load(bias, at)),
            (Some(weight), None) => result * isa.load(weight, at),
            (None, Some(bias)) => result + isa.load(bias, at),
            (None, None) => result,
        };
        row.write(isa, at, result);
    }
}

/// The sum of a row with four independent accumulators, for accuracy and to hide the addition latency.
#[inline(always)]
fn sum<S: Isa>(isa: S, row: &Row, columns: usize) -> f32 {
    let zero = isa.splat(0.0);
    let mut sums = [zero; 4];
    let whole = columns - columns % (4 * S::LANES);
    for at in (0..whole).step_by(4 * S::LANES) {
        for (part, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the loop condition leaves room for four vectors.
            *sum = *sum + unsafe { row.read_whole(isa, at + part * S::LANES) };
        }
    }
    for at in (whole..columns).step_by(S::LANES) {
        sums[0] = sums[0] + row.read(isa, at, zero);
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])).sum()
}

/// The sum of squared deviations from the mean.
#[inline(always)]
fn sum_of_squares<S: Isa>(isa: S, row: &Row, columns: usize, mean: f32) -> f32 {
    let mean = isa.splat(mean);
    let mut sums = [isa.splat(0.0); 4];
    let whole = columns - columns % (4 * S::LANES);
    for at in (0..whole).step_by(4 * S::LANES) {
        for (part, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the loop condition leaves room for four vectors.
            let distance = unsafe { row.read_whole(isa, at + part * S::LANES) } - mean;
            *sum = distance.mul_add(distance, *sum);
        }
    }
    for at in (whole..columns).step_by(S::LANES) {
        let distance = row.read(isa, at, mean) - mean;
        sums[0] = distance.mul_add(distance, sums[0]);
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use std::vec;
    use std::vec::Vec;

    /// Reference normalization in double precision.
    fn plain(input: &[f32], normalization: &Normalization, columns: usize) -> Vec<f64> {
        let mut output = Vec::new();
        for row in input.chunks(columns) {
            let row: Vec<f64> = row.iter().map(|number| f64::from(*number)).collect();
            let mean = if normalization.centered { row.iter().sum::<f64>() / columns as f64 } else { 0.0 };
            let variance = row.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / columns as f64;
            let deviation = (variance + f64::from(normalization.epsilon)).sqrt();
            output.extend(row.iter().enumerate().map(|(column, number)| {
                let weight = normalization.weight.map_or(1.0, |weight| f64::from(weight[column]));
                (number - mean) / deviation * weight + normalization.bias.map_or(0.0, |bias| f64::from(bias[column]))
            }));
        }
        output
    }

    #[test]
    fn rows_are_normalized() {
        for columns in (1..70).chain([96, 511, 768]) {
            let input: Vec<f32> = numbers(3 * columns, 1).iter().map(|number| number + 2.0).collect();
            let (weight, bias) = (numbers(columns, 2), numbers(columns, 3));
            for (centered, weight, bias) in [
                (true, Some(&weight[..]), Some(&bias[..])),
                (false, Some(&weight[..]), None),
                (true, None, Some(&bias[..])),
                (true, None, None),
            ] {
                let normalization = Normalization { centered, epsilon: 1e-5, weight, bias };
                let expected = plain(&input, &normalization, columns);
                for level in Level::available() {
                    let (mut output, mut in_place) = (vec![0.0; input.len()], input.clone());
                    normalize(level, &input, &normalization, &mut output, columns).unwrap();
                    assert_close(level.name(), &output, &expected, 2e-5);
                    normalize_in_place(level, &mut in_place, &normalization, columns).unwrap();
                    assert_eq!(in_place, output, "{}", level.name());
                }
            }
        }
    }

    #[test]
    fn a_mean_far_from_zero_costs_little() {
        let input: Vec<f32> = numbers(768, 1).iter().map(|number| number + 1000.0).collect();
        let normalization = Normalization { centered: true, epsilon: 1e-5, weight: None, bias: None };
        for level in Level::available() {
            let mut output = vec![0.0; 768];
            normalize(level, &input, &normalization, &mut output, 768).unwrap();
            assert_close(level.name(), &output, &plain(&input, &normalization, 768), 1e-3);
        }
    }

    #[test]
    fn a_residual_is_added_first() {
        let (sum, addend) = (numbers(5 * 33, 1), numbers(5 * 33, 2));
        let added: Vec<f32> = sum.iter().zip(&addend).map(|(sum, addend)| sum + addend).collect();
        let normalization = Normalization { centered: true, epsilon: 1e-6, weight: None, bias: None };
        for level in Level::available() {
            let (mut sum, mut output) = (sum.clone(), vec![0.0; 5 * 33]);
            add_and_normalize(level, &mut sum, &addend, &normalization, &mut output, 33).unwrap();
            assert_eq!(sum, added, "{}", level.name());
            assert_close(level.name(), &output, &plain(&added, &normalization, 33), 1e-5);
        }
    }

    #[test]
    fn parameters_have_a_number_for_each_column() {
        let normalization = Normalization { centered: true, epsilon: 1e-6, weight: Some(&[1.0]), bias: None };
        assert!(normalize(Level::Portable, &[1.0; 4], &normalization, &mut [0.0; 4], 2).is_err());
    }
}
