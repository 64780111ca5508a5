//! Softmax and norms over the last dimension.

use et_qnn::build::DataType;
use etbuild_backend::Refusal;

use crate::program::Parameter;

use super::fp16;
use super::step::{Elements, Qparams, Step, qparams};

/// `exp(x) / sum(exp(x))`: of integers rounded once, in fp16 by the steps of [`fp16`].
pub fn softmax(step: &Step<'_>) -> Result<Elements, Refusal> {
    let numbers = step.numbers(0)?;
    let shares: fn(&[f64]) -> Vec<f64> =
        if step.output().data_type == DataType::Float16 { fp16::shares } else { shares };
    Ok(step.rounded(numbers.chunks(width(step)).flat_map(shares)))
}

fn shares(row: &[f64]) -> Vec<f64> {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = row.iter().map(|number| (number - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// `(x - mean) / sqrt(variance + epsilon) * gain + offset`, whose product and offset are rounded apart.
pub fn layer_norm(step: &Step<'_>) -> Result<Elements, Refusal> {
    let parts = norm(step, |row| row.iter().sum::<f64>() / row.len() as f64)?.into_iter();
    Ok(match qparams(step.output()) {
        Some(Qparams { scale, zero }) => {
            let nearest = |number: f64| (number / scale + 0.5).floor() as i64;
            step.saturated(parts.map(|[product, offset]| nearest(product) + nearest(offset) + zero))
        }
        None => step.rounded(parts.map(|[product, offset]| product + offset)),
    })
}

/// `x / sqrt(mean of squares + epsilon) * gain + offset`; integers are rounded down.
pub fn rms_norm(step: &Step<'_>) -> Result<Elements, Refusal> {
    let half = qparams(step.output()).map_or(0.0, |output| output.scale / 2.0);
    Ok(step.rounded(norm(step, |_| 0.0)?.into_iter().map(|[product, offset]| product + offset - half)))
}

/// The products of normed numbers with their gains, and the offsets.
fn norm(step: &Step<'_>, middle: fn(&[f64]) -> f64) -> Result<Vec<[f64; 2]>, Refusal> {
    let epsilon = match step.parameter("epsilon") {
        Some(Parameter::Float32(epsilon)) => f64::from(*epsilon),
        _ => 0.0,
    };
    let (numbers, gains, offsets) = (step.numbers(0)?, step.numbers(1)?, step.numbers(2)?);
    let unit = step.of_width(1).map(|([input, gain], output)| input.scale * gain.scale / output.scale);
    let results = numbers.chunks(width(step)).flat_map(|row| {
        let middle = middle(row);
        let squares: f64 = row.iter().map(|number| (number - middle).powi(2)).sum();
        let factor = cut((squares / row.len() as f64 + epsilon).sqrt().recip(), unit);
        let scaled = row.iter().zip(gains.iter().zip(&offsets));
        scaled.map(move |(number, (gain, offset))| [(number - middle) * factor * gain, *offset])
    });
    Ok(results.collect())
}

/// The factor of a row: in 8 bits, `unit` times the factor multiplies integers, and is cut to 16 bits behind the point.
fn cut(factor: f64, unit: Option<f64>) -> f64 {
    let bits = f64::from(1 << 16);
    unit.map_or(factor, |unit| (factor * unit * bits).floor() / (unit * bits))
}

/// The size of the last dimension.
fn width(step: &Step<'_>) -> usize {
    step.output().sizes.last().map_or(1, |size| *size as usize).max(1)
}
