//! int8 kernels: `value = scale * (byte - zero_point)`.
//!
//! Quantization rounds to the nearest int8, ties to even, and saturates.

use et_core::Result;
use et_simd::{Float, Integer, Level, Simd, Work};

use crate::check::ensure;

/// Per-tensor qparams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantization {
    /// The scale, above 0.
    pub scale: f32,
    /// The zero point.
    pub zero_point: i32,
}

/// Dequantizes int8 to `f32`.
#[inline]
pub fn dequantize(level: Level, input: &[i8], from: Quantization, output: &mut [f32]) -> Result<()> {
    ensure(input.len() == output.len())?;
    level.run(Dequantize { input, from, output });
    Ok(())
}

struct Dequantize<'a> {
    input: &'a [i8],
    from: Quantization,
    output: &'a mut [f32],
}

impl Work for Dequantize<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        dequantize_block(isa, self.input, self.from.scale, self.from.zero_point, self.output);
    }
}

/// The int8 range.
pub(crate) const ALL: [i8; 2] = [i8::MIN, i8::MAX];

/// Requantization of `f32` values: scale, round, add the zero point.
#[derive(Clone, Copy)]
pub(crate) struct Rescale<S: Simd> {
    factor: S::F32,
    zero_point: S::I32,
    least: S::F32,
    greatest: S::F32,
}

impl<S: Simd> Rescale<S> {
    /// Requantization with the scale `factor`, clamped to `range`.
    #[inline(always)]
    pub fn new(isa: S, factor: f32, zero_point: i32, range: [i8; 2]) -> Self {
        let [least, greatest] = range.map(
            #[inline(always)]
            |byte| isa.splat((i32::from(byte).wrapping_sub(zero_point)) as f32),
        );
        Self { factor: isa.splat(factor), zero_point: isa.splat_i32(zero_point), least, greatest }
    }

    /// Requantizes each lane, still as `i32`.
    #[inline(always)]
    pub fn bytes(&self, numbers: S::F32) -> S::I32 {
        let scaled = (numbers * self.factor).max(self.least).min(self.greatest);
        scaled.to_integer() + self.zero_point
    }
}

/// Quantizes `f32` to int8.
#[inline(always)]
pub(crate) fn quantize_block<S: Simd>(isa: S, input: &[f32], scale: f32, zero_point: i32, output: &mut [i8]) {
    let rescale = Rescale::new(isa, 1.0 / scale, zero_point, ALL);
    for at in (0..output.len()).step_by(S::LANES) {
        isa.store_i8(output, at, rescale.bytes(isa.load(input, at)));
    }
}

/// [`dequantize`], for kernels.
#[inline(always)]
pub(crate) fn dequantize_block<S: Simd>(isa: S, input: &[i8], scale: f32, zero_point: i32, output: &mut [f32]) {
    let (scale, zero_point) = (isa.splat(scale), isa.splat_i32(zero_point));
    for at in (0..output.len()).step_by(S::LANES) {
        isa.store(output, at, (isa.load_i8(input, at) - zero_point).to_float() * scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_nearly_equal, numbers};
    use std::vec;
    use std::vec::Vec;

    const FROM: Quantization = Quantization { scale: 0.0125, zero_point: -7 };
    struct Quantize<'a>(&'a [f32], &'a mut [i8]);

    impl Work for Quantize<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, isa: S) {
            quantize_block(isa, self.0, FROM.scale, FROM.zero_point, self.1);
        }
    }

    fn byte(number: f64) -> i8 {
        let byte = (number / f64::from(FROM.scale)).round_ties_even() + f64::from(FROM.zero_point);
        byte.clamp(-128.0, 127.0) as i8
    }

    fn number(byte: i8) -> f64 {
        f64::from(FROM.scale) * f64::from(i32::from(byte) - FROM.zero_point)
    }

    #[test]
    fn bytes_stand_for_numbers() {
        for level in Level::available() {
            for length in 0..70 {
                let input: Vec<f32> = numbers(length, 1).iter().map(|number| number * 3.0).collect();
                let mut output = vec![0; length];
                level.run(Quantize(&input, &mut output));
                let expected: Vec<i8> = input.iter().map(|number| byte(f64::from(*number))).collect();
                assert_nearly_equal(level.name(), &output, &expected);
                let mut floats = vec![0.0; length];
                dequantize(level, &output, FROM, &mut floats).unwrap();
                let exact: Vec<f64> = output.iter().map(|byte| number(*byte)).collect();
                crate::test::assert_close(level.name(), &floats, &exact, 1e-6);
            }
        }
    }

    #[test]
    fn extremes_are_the_first_and_last_byte() {
        for level in Level::available() {
            let mut output = [0; 4];
            level.run(Quantize(&[f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30], &mut output));
            assert_eq!(output, [127, -128, 127, -128], "{}", level.name());
        }
    }

    #[test]
    fn lengths_have_to_be_equal() {
        assert!(dequantize(Level::Portable, &[1], FROM, &mut []).is_err());
    }
}
