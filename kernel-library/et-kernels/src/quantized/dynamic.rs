//! Dynamic quantization: scale and zero point per row (per token).

use et_core::Result;
use et_simd::{Float, Isa, Level, Work};

use super::{ALL, Quantization, Rescale};
use crate::check::ensure;

/// Quantizes each row of `columns` finite elements to the 256 int8 values over the row's range, extended to 0.
/// `parameters` receives the qparams of each row.
#[inline]
pub fn quantize_rows(
    level: Level,
    input: &[f32],
    columns: usize,
    output: &mut [i8],
    parameters: &mut [Quantization],
) -> Result<()> {
    ensure(columns > 0 && input.len().is_multiple_of(columns) && input.len() == output.len())?;
    ensure(parameters.len() == input.len() / columns)?;
    level.run(QuantizeRows { input, columns, output, parameters });
    Ok(())
}

impl Quantization {
    /// The qparams for a range, extended to 0. The zero point is computed from the end of the range with the smaller
    /// rounding error, as XNNPACK and torchao do.
    pub fn of_range(least: f32, greatest: f32) -> Self {
        let (least, greatest) = (least.min(0.0), greatest.max(0.0));
        let scale = (greatest - least) / 255.0;
        let inverse = 1.0 / scale;
        if scale <= 0.0 || !inverse.is_finite() {
            return Self { scale: 1.0, zero_point: 0 };
        }
        let [first, last] = [least * inverse, greatest * inverse];
        let zero_point = if first - 128.0 + last + 127.0 > 0.0 { -128.0 - first } else { 127.0 - last };
        // Adding a large constant rounds to an integer.
        let rounded = (zero_point.clamp(-128.0, 127.0) + 12_582_912.0) - 12_582_912.0;
        Self { scale, zero_point: rounded as i32 }
    }
}

struct QuantizeRows<'a> {
    input: &'a [f32],
    columns: usize,
    output: &'a mut [i8],
    parameters: &'a mut [Quantization],
}

impl Work for QuantizeRows<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) {
        let columns = self.columns;
        let rows = self.input.chunks_exact(columns).zip(self.output.chunks_exact_mut(columns));
        for ((row, output), parameters) in rows.zip(self.parameters) {
            let [least, greatest] = range(isa, row);
            *parameters = Quantization::of_range(least, greatest);
            let rescale = Rescale::new(isa, 1.0 / parameters.scale, parameters.zero_point, ALL);
            for at in (0..columns).step_by(S::LANES) {
                isa.store_i8(output, at, rescale.bytes(isa.load(row, at)));
            }
        }
    }
}

/// The minimum and maximum of a row.
#[inline(always)]
fn range<S: Isa>(isa: S, row: &[f32]) -> [f32; 2] {
    // The range always includes zero.
    let (mut least, mut greatest) = (isa.splat(0.0), isa.splat(0.0));
    for at in (0..row.len()).step_by(S::LANES) {
        // Lanes past the end are 0, which is within the range.
        let numbers = isa.load(row, at);
        least = least.min(numbers);
        greatest = greatest.max(numbers);
    }
    [least.least(), greatest.greatest()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::numbers;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn rows_have_ranges_of_their_own() {
        for columns in [1, 5, 16, 33, 768] {
            let input: Vec<f32> = numbers(4 * columns, 1)
                .iter()
                .enumerate()
                .map(|(index, number)| number * (index / columns) as f32 + 0.1)
                .collect();
            for level in Level::available() {
                let mut output = vec![0; input.len()];
                let mut parameters = [Quantization { scale: 0.0, zero_point: 0 }; 4];
                quantize_rows(level, &input, columns, &mut output, &mut parameters).unwrap();
                for (index, (number, byte)) in input.iter().zip(&output).enumerate() {
                    let Quantization { scale, zero_point } = parameters[index / columns];
                    let back = (f32::from(*byte) - zero_point as f32) * scale;
                    assert!((back - number).abs() <= scale * 1.01, "{} {number} {back}", level.name());
                }
            }
        }
    }

    #[test]
    fn ranges_have_zero_and_all_bytes() {
        assert_eq!(Quantization::of_range(0.0, 0.0), Quantization { scale: 1.0, zero_point: 0 });
        assert_eq!(Quantization::of_range(0.0, 25.5), Quantization { scale: 0.1, zero_point: -128 });
        assert_eq!(Quantization::of_range(-25.5, -1.0), Quantization { scale: 0.1, zero_point: 127 });
        assert_eq!(Quantization::of_range(-1.0, 1.0).zero_point, 0);
    }
}
