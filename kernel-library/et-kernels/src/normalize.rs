//! LayerNorm and RMSNorm of rows.

use et_core::Result;
use et_simd::{Float, Level, Simd, Work};

use crate::check::ensure;
use crate::rows::fold;

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
    fn fits(&self, columns: usize) -> bool {
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
    ensure(normalization.fits(columns) && columns > 0)?;
    ensure(input.len() == output.len() && input.len().is_multiple_of(columns))?;
    level.run(Normalize { input, output, normalization, columns });
    Ok(())
}

struct Normalize<'a> {
    input: &'a [f32],
    output: &'a mut [f32],
    normalization: &'a Normalization<'a>,
    columns: usize,
}

impl Work for Normalize<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        for (input, output) in self.input.chunks_exact(self.columns).zip(self.output.chunks_exact_mut(self.columns)) {
            normalize_row(isa, input, self.normalization, output);
        }
    }
}

/// Normalizes a row.
#[inline(always)]
fn normalize_row<S: Simd>(isa: S, input: &[f32], normalization: &Normalization, output: &mut [f32]) {
    let count = input.len() as f32;
    let mean = if normalization.centered { sum(isa, input) / count } else { 0.0 };
    let variance = sum_of_squares(isa, input, mean) / count;
    let factor = isa.splat(1.0) / isa.splat(variance + normalization.epsilon).sqrt();
    let mean = isa.splat(mean);
    for at in (0..input.len()).step_by(S::LANES) {
        let mut result = (isa.load(input, at) - mean) * factor;
        result = match (normalization.weight, normalization.bias) {
            (Some(weight), Some(bias)) => result.mul_add(isa.load(weight, at), isa.load(bias, at)),
            (Some(weight), None) => result * isa.load(weight, at),
            (None, Some(bias)) => result + isa.load(bias, at),
            (None, None) => result,
        };
        isa.store(output, at, result);
    }
}

/// The sum of a row.
#[inline(always)]
fn sum<S: Simd>(isa: S, row: &[f32]) -> f32 {
    let sums = fold::<S, 4>(
        isa,
        row,
        [isa.splat(0.0); 2],
        #[inline(always)]
        |sum, numbers| sum + numbers,
    );
    ((sums[0] + sums[1]) + (sums[2] + sums[3])).sum()
}

/// The sum of squared deviations from the mean.
#[inline(always)]
fn sum_of_squares<S: Simd>(isa: S, row: &[f32], mean: f32) -> f32 {
    let mean = isa.splat(mean);
    let sums = fold::<S, 4>(
        isa,
        row,
        [isa.splat(0.0), mean],
        #[inline(always)]
        |sum, numbers| (numbers - mean).mul_add(numbers - mean, sum),
    );
    ((sums[0] + sums[1]) + (sums[2] + sums[3])).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{check, numbers};
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
                check("rows", &expected, 2e-5, |level, output| {
                    normalize(level, &input, &normalization, output, columns)
                });
            }
        }
    }

    #[test]
    fn a_mean_far_from_zero_costs_little() {
        let input: Vec<f32> = numbers(768, 1).iter().map(|number| number + 1000.0).collect();
        let normalization = Normalization { centered: true, epsilon: 1e-5, weight: None, bias: None };
        let expected = plain(&input, &normalization, 768);
        check("a row", &expected, 1e-3, |level, output| normalize(level, &input, &normalization, output, 768));
    }

    #[test]
    fn parameters_have_a_number_for_each_column() {
        let normalization = Normalization { centered: true, epsilon: 1e-6, weight: Some(&[1.0]), bias: None };
        assert!(normalize(Level::Portable, &[1.0; 4], &normalization, &mut [0.0; 4], 2).is_err());
    }
}
