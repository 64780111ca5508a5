//! int8 softmax and normalization of rows, computed in `f32`.

use et_core::Result;
use et_simd::{Isa, Level, Work};

use super::{Quantization, dequantize_block, quantize_block};
use crate::check::ensure;
use crate::normalize::{Normalization, normalize_row};
use crate::rows::Rows;
use crate::softmax::softmax_row;

/// Softmax of each row of `columns` int8. `scratch` has room for a row.
#[inline]
pub fn softmax(
    level: Level,
    input: &[i8],
    from: Quantization,
    to: Quantization,
    output: &mut [i8],
    columns: usize,
    scratch: &mut [f32],
) -> Result<()> {
    each_row(level, input, from, to, output, columns, scratch, None)
}

/// Normalization of each row of `columns` int8, as [`crate::normalize::normalize`]. `scratch` has room for a row.
#[allow(clippy::too_many_arguments)] // Two tensors, what their bytes mean, parameters, and scratch memory.
#[inline]
pub fn normalize(
    level: Level,
    input: &[i8],
    from: Quantization,
    normalization: &Normalization,
    to: Quantization,
    output: &mut [i8],
    columns: usize,
    scratch: &mut [f32],
) -> Result<()> {
    ensure(normalization.fits(columns))?;
    each_row(level, input, from, to, output, columns, scratch, Some(normalization))
}

#[allow(clippy::too_many_arguments)] // As above.
#[inline]
fn each_row(
    level: Level,
    input: &[i8],
    from: Quantization,
    to: Quantization,
    output: &mut [i8],
    columns: usize,
    scratch: &mut [f32],
    normalization: Option<&Normalization>,
) -> Result<()> {
    ensure(columns > 0 && input.len() == output.len() && input.len().is_multiple_of(columns))?;
    ensure(scratch.len() >= columns)?;
    let scratch = &mut scratch[..columns];
    level.run(EachRow { input, from, to, output, scratch, normalization });
    Ok(())
}

struct EachRow<'a> {
    input: &'a [i8],
    from: Quantization,
    to: Quantization,
    output: &'a mut [i8],
    /// A row.
    scratch: &'a mut [f32],
    /// The normalization; `None` for softmax.
    normalization: Option<&'a Normalization<'a>>,
}

impl Work for EachRow<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) {
        let Self { input, from, to, output, scratch, normalization } = self;
        let columns = scratch.len();
        for (input, output) in input.chunks_exact(columns).zip(output.chunks_exact_mut(columns)) {
            dequantize_block(isa, input, from.scale, from.zero_point, scratch);
            let Ok(rows) = Rows::in_place(scratch, columns) else { return };
            match normalization {
                Some(normalization) => normalize_row(isa, &rows.row(0), normalization, columns),
                None => softmax_row(isa, &rows.row(0), columns),
            }
            quantize_block(isa, scratch, to.scale, to.zero_point, output);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_nearly_equal, bytes, numbers};
    use std::vec;
    use std::vec::Vec;

    const FROM: Quantization = Quantization { scale: 0.05, zero_point: 3 };
    const TO: Quantization = Quantization { scale: 1.0 / 64.0, zero_point: -28 };

    fn quantized(numbers: &[f32]) -> Vec<i8> {
        let byte = |number: &f32| (f64::from(*number) * 64.0).round_ties_even() - 28.0;
        numbers.iter().map(|number| byte(number).clamp(-128.0, 127.0) as i8).collect()
    }

    #[test]
    fn rows_of_bytes_are_rows_of_numbers() {
        for columns in [1, 7, 49, 96] {
            let input = bytes(3 * columns, 1);
            let floats: Vec<f32> = input.iter().map(|byte| (f32::from(*byte) - 3.0) * 0.05).collect();
            let weight = numbers(columns, 2);
            let normalization = Normalization { centered: true, epsilon: 1e-5, weight: Some(&weight), bias: None };
            for level in Level::available() {
                let (mut exact, mut output) = (floats.clone(), vec![0; input.len()]);
                let mut scratch = vec![0.0; columns];
                crate::softmax::softmax_in_place(level, &mut exact, columns).unwrap();
                softmax(level, &input, FROM, TO, &mut output, columns, &mut scratch).unwrap();
                assert_nearly_equal(level.name(), &output, &quantized(&exact));
                exact.clone_from(&floats);
                crate::normalize::normalize_in_place(level, &mut exact, &normalization, columns).unwrap();
                normalize(level, &input, FROM, &normalization, TO, &mut output, columns, &mut scratch).unwrap();
                assert_nearly_equal(level.name(), &output, &quantized(&exact));
                assert!(softmax(level, &input, FROM, TO, &mut output, columns, &mut []).is_err());
            }
        }
    }
}
