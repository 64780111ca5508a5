//! int8 addition and multiplication of two tensors.

use et_core::Result;
use et_simd::{Float, Integer, Isa, Level, Work};

use super::{Quantization, Rescale};
use crate::check::ensure;

/// Adds two int8 tensors. `range` has the output bounds of a fused activation.
#[inline]
pub fn add(
    level: Level,
    left: (&[i8], Quantization),
    right: (&[i8], Quantization),
    to: Quantization,
    range: [i8; 2],
    output: &mut [i8],
) -> Result<()> {
    ensure(left.0.len() == output.len() && right.0.len() == output.len())?;
    level.run(Add { left, right, to, range, output });
    Ok(())
}

/// Multiplies two int8 tensors, as [`add`]. The right tensor may be a row of columns, which is broadcast over the rows
/// of the left tensor.
#[inline]
pub fn mul(
    level: Level,
    left: (&[i8], Quantization),
    right: (&[i8], Quantization),
    to: Quantization,
    range: [i8; 2],
    output: &mut [i8],
) -> Result<()> {
    let columns = right.0.len();
    ensure(
        left.0.len() == output.len() && (output.is_empty() || (columns > 0 && output.len().is_multiple_of(columns))),
    )?;
    level.run(Mul { left, right, to, range, output });
    Ok(())
}

struct Add<'a> {
    left: (&'a [i8], Quantization),
    right: (&'a [i8], Quantization),
    to: Quantization,
    range: [i8; 2],
    output: &'a mut [i8],
}

impl Work for Add<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) {
        let [left, right] = [self.left.1, self.right.1];
        let factors = [left.scale / self.to.scale, right.scale / self.to.scale];
        let offset = -(factors[0] * left.zero_point as f32 + factors[1] * right.zero_point as f32);
        let (rescale, offset) = (Rescale::new(isa, 1.0, self.to.zero_point, self.range), isa.splat(offset));
        let [left_factor, right_factor] = factors.map(
            #[inline(always)]
            |factor| isa.splat(factor),
        );
        for at in (0..self.output.len()).step_by(S::LANES) {
            let left = isa.load_i8(self.left.0, at).to_float().mul_add(left_factor, offset);
            let sum = isa.load_i8(self.right.0, at).to_float().mul_add(right_factor, left);
            isa.store_i8(self.output, at, rescale.bytes(sum));
        }
    }
}

struct Mul<'a> {
    left: (&'a [i8], Quantization),
    right: (&'a [i8], Quantization),
    to: Quantization,
    range: [i8; 2],
    output: &'a mut [i8],
}

impl Work for Mul<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) {
        let [left, right] = [self.left.1, self.right.1];
        let rescale = Rescale::new(isa, left.scale * right.scale / self.to.scale, self.to.zero_point, self.range);
        let left_zero = isa.splat_i32(left.zero_point);
        let right_zero = isa.splat_i32(right.zero_point);
        let columns = self.right.0.len().max(1);
        let rows = self.left.0.chunks_exact(columns).zip(self.output.chunks_exact_mut(columns));
        for (row, output) in rows {
            for at in (0..columns).step_by(S::LANES) {
                let left = isa.load_i8(row, at) - left_zero;
                let right = isa.load_i8(self.right.0, at) - right_zero;
                let product = left.mul_words(right.words()).to_float();
                isa.store_i8(output, at, rescale.bytes(product));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_nearly_equal, bytes};
    use std::vec;
    use std::vec::Vec;

    const LEFT: Quantization = Quantization { scale: 0.031, zero_point: -100 };
    const RIGHT: Quantization = Quantization { scale: 0.017, zero_point: 33 };
    const TO: Quantization = Quantization { scale: 0.043, zero_point: -5 };

    fn expected(left: &[i8], right: &[i8], rule: fn(f64, f64) -> f64) -> Vec<i8> {
        let number =
            |byte: i8, from: Quantization| f64::from(i32::from(byte) - from.zero_point) * f64::from(from.scale);
        let pairs = left.iter().zip(right.iter().cycle());
        let byte = |number: f64| (number / f64::from(TO.scale)).round_ties_even() + f64::from(TO.zero_point);
        pairs
            .map(|(left, right)| byte(rule(number(*left, LEFT), number(*right, RIGHT))).clamp(-5.0, 90.0) as i8)
            .collect()
    }

    #[test]
    fn bytes_are_added_and_multiplied() {
        for level in Level::available() {
            for length in (0..40).chain([500]) {
                let (left, right, mut output) = (bytes(length, 1), bytes(length, 2), vec![0; length]);
                add(level, (&left, LEFT), (&right, RIGHT), TO, [-5, 90], &mut output).unwrap();
                assert_nearly_equal(level.name(), &output, &expected(&left, &right, |left, right| left + right));
                mul(level, (&left, LEFT), (&right, RIGHT), TO, [-5, 90], &mut output).unwrap();
                assert_nearly_equal(level.name(), &output, &expected(&left, &right, |left, right| left * right));
            }
        }
    }

    #[test]
    fn channels_are_multiplied() {
        for level in Level::available() {
            for columns in [1, 7, 16, 40] {
                let (left, right, mut output) = (bytes(5 * columns, 1), bytes(columns, 2), vec![0; 5 * columns]);
                mul(level, (&left, LEFT), (&right, RIGHT), TO, [-5, 90], &mut output).unwrap();
                assert_nearly_equal(level.name(), &output, &expected(&left, &right, |left, right| left * right));
            }
        }
    }
}
