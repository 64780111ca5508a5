//! Max and average pooling of NHWC images, `f32` and int8.
#![allow(unsafe_code)] // Elements are read and written through pointers.

use et_core::Result;
use et_simd::{Float, Integer, Level, Simd, Work};

use crate::quantized::{ALL, Quantization, Rescale};
use crate::receptive_fields::{Reduction, reduce};
use crate::window::Image;

/// The divisor of average pooling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Divisor {
    /// The number of kernel positions within the image (`count_include_pad = false`).
    Inside,
    /// A constant, such as the number of kernel positions.
    Fixed(f32),
}

impl Divisor {
    /// The divisor for `count` kernel positions within the image.
    #[inline(always)]
    fn of(self, inside: usize) -> f32 {
        match self {
            Self::Inside => inside as f32,
            Self::Fixed(number) => number,
        }
    }
}

/// Max pooling. A receptive field without a pixel of the image yields negative infinity.
#[inline]
pub fn max_pool(level: Level, image: Image<'_, f32>) -> Result<()> {
    pool(level, Max, image)
}

/// Average pooling.
#[inline]
pub fn average_pool(level: Level, image: Image<'_, f32>, divisor: Divisor) -> Result<()> {
    pool(level, Mean(divisor), image)
}

/// int8 max pooling, as [`max_pool`]; the output has the qparams of the input.
#[inline]
pub fn max_pool_bytes(level: Level, image: Image<'_, i8>) -> Result<()> {
    pool(level, MaxOfBytes, image)
}

/// int8 average pooling, requantized.
#[inline]
pub fn average_pool_bytes(
    level: Level,
    image: Image<'_, i8>,
    from: Quantization,
    divisor: Divisor,
    to: Quantization,
) -> Result<()> {
    pool(level, MeanOfBytes { from, divisor, to }, image)
}

#[inline(always)]
fn pool<R: Reduction>(level: Level, reduction: R, image: Image<'_, R::Element>) -> Result<()> {
    image.check()?;
    level.run(Pool { reduction, image });
    Ok(())
}

struct Pool<'a, R: Reduction> {
    reduction: R,
    image: Image<'a, R::Element>,
}

impl<R: Reduction> Work for Pool<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, isa: S) {
        reduce::<S, R, 4>(isa, self.reduction, &mut self.image);
    }
}

/// The maximum; NaN propagates.
#[derive(Clone, Copy)]
struct Max;

impl Reduction for Max {
    type Element = f32;
    type Sum<S: Simd> = S::F32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S, _: usize) -> S::F32 {
        isa.splat(f32::NEG_INFINITY)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::F32, from: *const f32, _: usize, lanes: usize) -> S::F32 {
        // SAFETY: the caller guarantees `lanes` elements. The same argument holds for the methods below.
        let numbers = unsafe { isa.read_some(from, lanes) };
        sum.max(numbers).select(sum.is_equal(sum), sum)
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::F32, _: usize, to: *mut f32, lanes: usize) {
        // SAFETY: as above.
        unsafe { isa.write_some(to, lanes, sum) }
    }
}

/// The mean.
#[derive(Clone, Copy)]
struct Mean(Divisor);

impl Reduction for Mean {
    type Element = f32;
    type Sum<S: Simd> = S::F32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S, _: usize) -> S::F32 {
        isa.splat(0.0)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::F32, from: *const f32, _: usize, lanes: usize) -> S::F32 {
        // SAFETY: as above.
        sum + unsafe { isa.read_some(from, lanes) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::F32, inside: usize, to: *mut f32, lanes: usize) {
        // SAFETY: as above.
        unsafe { isa.write_some(to, lanes, sum / isa.splat(self.0.of(inside))) }
    }
}

/// The int8 maximum.
#[derive(Clone, Copy)]
struct MaxOfBytes;

impl Reduction for MaxOfBytes {
    type Element = i8;
    type Sum<S: Simd> = S::I32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S, _: usize) -> S::I32 {
        isa.splat_i32(-128)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::I32, from: *const i8, _: usize, lanes: usize) -> S::I32 {
        // SAFETY: as above.
        sum.max(unsafe { isa.read_i8_part(from, lanes) })
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::I32, _: usize, to: *mut i8, lanes: usize) {
        // SAFETY: as above.
        unsafe { isa.write_i8_part(to, lanes, sum) }
    }
}

/// The int8 mean, requantized.
#[derive(Clone, Copy)]
struct MeanOfBytes {
    from: Quantization,
    divisor: Divisor,
    to: Quantization,
}

impl Reduction for MeanOfBytes {
    type Element = i8;
    type Sum<S: Simd> = S::I32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S, _: usize) -> S::I32 {
        isa.splat_i32(0)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::I32, from: *const i8, _: usize, lanes: usize) -> S::I32 {
        // SAFETY: as above.
        sum + unsafe { isa.read_i8_part(from, lanes) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::I32, inside: usize, to: *mut i8, lanes: usize) {
        let Self { from, divisor, to: qparams } = self;
        let offset = isa.splat(inside as f32 * from.zero_point as f32);
        let factor = from.scale / qparams.scale / divisor.of(inside);
        let bytes = Rescale::new(isa, factor, qparams.zero_point, ALL).bytes(sum.to_float() - offset);
        // SAFETY: as above.
        unsafe { isa.write_i8_part(to, lanes, bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, assert_nearly_equal, bytes, numbers};
    use crate::window::test::{in_parts, plain, windows};
    use std::vec::Vec;

    const FROM: Quantization = Quantization { scale: 0.031, zero_point: 9 };
    const TO: Quantization = Quantization { scale: 0.027, zero_point: -20 };

    #[test]
    fn windows_have_greatest_numbers_and_means() {
        for window in windows() {
            for channels in [1, 5, 8, 16, 21, 64, 70] {
                let input = numbers(window.input[0] * window.input[1] * channels, 1);
                let fields = |field: fn(&mut dyn Iterator<Item = f64>, usize) -> f64| {
                    plain(&window, channels, |_, taps| {
                        field(&mut taps.iter().map(|(_, at)| f64::from(input[*at])), taps.len())
                    })
                };
                let greatest = fields(|field, _| field.fold(f64::NEG_INFINITY, f64::max));
                let fixed = fields(|field, _| field.sum::<f64>() / 9.0);
                let mean = fields(|field, count| field.sum::<f64>() / count as f64);
                for level in Level::available() {
                    let what = std::format!("{window:?} {channels} {}", level.name());
                    let pooled =
                        |run: &dyn Fn(Image<'_, f32>) -> Result<()>| in_parts(&window, channels, &input, 9.0, run);
                    assert_close(&what, &pooled(&|image| max_pool(level, image)), &greatest, 0.0);
                    let average = |divisor| pooled(&|image| average_pool(level, image, divisor));
                    assert_close(&what, &average(Divisor::Fixed(9.0)), &fixed, 1e-6);
                    if mean.iter().all(|number| !number.is_nan()) {
                        assert_close(&what, &average(Divisor::Inside), &mean, 1e-6);
                    }
                }
            }
        }
    }

    #[test]
    fn windows_have_greatest_bytes_and_means() {
        for window in windows() {
            for channels in [1, 5, 16, 21, 70] {
                let input = bytes(window.input[0] * window.input[1] * channels, 1);
                let greatest: Vec<i8> =
                    plain(&window, channels, |_, taps| taps.iter().map(|(_, at)| input[*at]).max().unwrap_or(-128));
                let means: Vec<i8> = plain(&window, channels, |_, taps| {
                    let sum: i32 = taps.iter().map(|(_, at)| i32::from(input[*at]) - FROM.zero_point).sum();
                    let mean = f64::from(sum) * f64::from(FROM.scale) / 7.0 / f64::from(TO.scale);
                    (mean.round_ties_even() + f64::from(TO.zero_point)).clamp(-128.0, 127.0) as i8
                });
                for level in Level::available() {
                    let what = std::format!("{window:?} {channels} {}", level.name());
                    let output = in_parts(&window, channels, &input, 0, |image| max_pool_bytes(level, image));
                    assert_eq!(output, greatest, "{what}");
                    let output = in_parts(&window, channels, &input, 0, |image| {
                        average_pool_bytes(level, image, FROM, Divisor::Fixed(7.0), TO)
                    });
                    assert_nearly_equal(&what, &output, &means);
                }
            }
        }
    }
}
