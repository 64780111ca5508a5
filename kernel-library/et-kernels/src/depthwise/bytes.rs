//! int8 depthwise convolution: int32 accumulators, requantized to int8.
#![allow(unsafe_code)] // Reads and writes through pointers that the convolution vouches for.

use core::ops::Range;

use et_core::Result;
use et_simd::{Activation, Bytes, Dot, DotWork, Dots, Integer, Level, Simd};

use super::arithmetic::{Arithmetic, To};
use super::convolve::{Tensors, convolve};
use crate::check::{ensure, product};
use crate::quantized::Rescale;
use crate::window::Window;

/// Requantization of the accumulators.
#[derive(Clone, Copy, Debug)]
pub struct Requantization<'a> {
    /// Per-channel scale: input scale times weight scale, divided by the output scale unless `hardswish` is set.
    pub scale: &'a [f32],
    /// The output zero point.
    pub zero_point: i32,
    /// The output bounds of a fused activation.
    pub range: [i8; 2],
    /// The reciprocal output scale, if hard swish (`x * clamp(x + 3, 0, 6) / 6`) is applied before requantization.
    pub hardswish: Option<f32>,
}

/// Convolves the output `rows` of an image `[rows, columns, channels]`, as [`super::depthwise`]. `zero_point` is the
/// input zero point; `bias` is int32 in units of input scale x weight scale.
#[allow(clippy::too_many_arguments)] // Three tensors, the geometry, and the share of the work.
#[inline]
pub fn depthwise_bytes(
    level: Level,
    window: &Window,
    channels: usize,
    input: &[i8],
    zero_point: i8,
    weights: &[i8],
    bias: &[i32],
    requantization: Requantization,
    rows: Range<usize>,
    output: &mut [i8],
) -> Result<()> {
    let tensors = Tensors { window, channels, input, weights, rows, output };
    run(Dots::fastest(level), Depthwise { tensors, zero_point, bias, requantization })
}

#[inline]
fn run(dots: Dots, work: Depthwise<'_>) -> Result<()> {
    let Tensors { window, channels, input, weights, rows, output } = &work.tensors;
    window.check(*channels, input.len(), rows, output.len())?;
    ensure(product(&[window.kernel[0], window.kernel[1], *channels])? == weights.len())?;
    ensure(work.bias.len() == *channels && work.requantization.scale.len() == *channels)?;
    dots.run(work);
    Ok(())
}

struct Depthwise<'a> {
    tensors: Tensors<'a, i8>,
    zero_point: i8,
    bias: &'a [i32],
    requantization: Requantization<'a>,
}

impl DotWork for Depthwise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<D: Dot>(self, dot: D) {
        let Self { tensors, zero_point, bias, requantization } = self;
        convolve(Integers { dot, zero_point, bias, requantization }, tensors);
    }
}

/// int8 dot products with int32 accumulators.
#[derive(Clone, Copy)]
struct Integers<'a, D> {
    dot: D,
    zero_point: i8,
    bias: &'a [i32],
    requantization: Requantization<'a>,
}

impl<D: Dot> Arithmetic for Integers<'_, D> {
    type Isa = D::Isa;
    type Number = i8;
    type Vector = Bytes<D>;
    const TAPS: usize = D::TAPS;
    const PADDING_ADDS: bool = true;

    #[inline(always)]
    fn padding(self) -> i8 {
        self.zero_point
    }
    #[inline(always)]
    fn empty(self) -> Bytes<D> {
        self.dot.isa().splat_i32(0)
    }
    #[inline(always)]
    unsafe fn shift_in<const N: usize>(self, vector: Bytes<D>, from: [*const i8; N]) -> Bytes<D> {
        // SAFETY: the caller guarantees valid pointers. The same argument holds for the methods below.
        unsafe { self.dot.shift_in(vector, from) }
    }
    #[inline(always)]
    fn weights(self, vector: Bytes<D>) -> Bytes<D> {
        self.dot.second_factor(vector)
    }
    #[inline(always)]
    unsafe fn read(self, from: *const u32) -> Bytes<D> {
        // SAFETY: as above.
        unsafe { self.dot.isa().read_i32(from.cast()) }
    }
    #[inline(always)]
    unsafe fn write(self, to: *mut u32, vector: Bytes<D>) {
        // SAFETY: as above.
        unsafe { self.dot.isa().write_i32(to.cast(), vector) }
    }
    #[inline(always)]
    fn start(self, channel: usize, lanes: usize) -> Bytes<D> {
        let isa = self.dot.isa();
        let all = self.bias.get(channel..).unwrap_or_default();
        // SAFETY: `all` has a vector of elements, or `bias` has 16, at least the lanes of any ISA.
        unsafe {
            if lanes == <D::Isa as Simd>::LANES && all.len() >= lanes {
                return isa.read_i32(all.as_ptr());
            }
            let mut bias = [0; 16];
            for (to, from) in bias.iter_mut().zip(all) {
                *to = *from;
            }
            isa.read_i32(bias.as_ptr())
        }
    }
    #[inline(always)]
    fn less_padding(self, sum: Bytes<D>, weights: Bytes<D>) -> Bytes<D> {
        let padding = [self.zero_point; 16];
        let mut vector = self.empty();
        for _ in 0..D::TAPS {
            // SAFETY: the array has 16 elements, at least the lanes of any ISA.
            vector = unsafe { self.dot.shift_in(vector, [padding.as_ptr()]) };
        }
        sum - self.dot.add_products(self.empty(), vector, weights)
    }
    #[inline(always)]
    fn plus(self, left: Bytes<D>, right: Bytes<D>) -> Bytes<D> {
        left + right
    }
    #[inline(always)]
    fn add(self, sum: Bytes<D>, numbers: Bytes<D>, weights: Bytes<D>) -> Bytes<D> {
        self.dot.add_products(sum, numbers, weights)
    }
    #[inline(always)]
    unsafe fn finish<const P: usize>(self, sums: [Bytes<D>; P], count: usize, to: To<i8>) {
        let isa = self.dot.isa();
        let Requantization { scale, zero_point, range, hardswish } = self.requantization;
        let rescale = Rescale::new(isa, 1.0, zero_point, range);
        let scale = isa.load(scale, to.channel);
        let mut bytes = sums;
        if let Some(inverse) = hardswish {
            for bytes in &mut bytes {
                let number = Activation::HardSwish.apply(isa, bytes.to_float() * scale);
                *bytes = rescale.bytes(number * isa.splat(inverse));
            }
        } else {
            for bytes in &mut bytes {
                *bytes = rescale.bytes(bytes.to_float() * scale);
            }
        }
        // SAFETY: as above.
        unsafe { write(isa, bytes, count, to) };
    }
}

/// Writes the int8 outputs of the first `count` pixels.
///
/// # Safety
/// `to` has room for the pixels.
#[inline(always)]
unsafe fn write<S: Simd, const P: usize>(isa: S, bytes: [S::I32; P], count: usize, to: To<i8>) {
    // SAFETY: the caller guarantees room for the pixels.
    unsafe {
        if count >= P && to.lanes == S::LANES {
            for (index, bytes) in bytes.into_iter().enumerate() {
                isa.write_i8(to.pixel(index), bytes);
            }
            return;
        }
        for (index, bytes) in bytes.into_iter().enumerate() {
            if index < count && to.lanes == S::LANES {
                isa.write_i8(to.pixel(index), bytes);
            } else if index < count {
                isa.write_i8_part(to.pixel(index), to.lanes, bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_nearly_equal, bytes, numbers};
    use crate::window::test::{large_windows, windows};
    use std::vec;
    use std::vec::Vec;

    const ZERO_POINTS: [i32; 2] = [-11, 5];
    const RANGE: [i8; 2] = [5, 100];

    /// The tensors of a convolution.
    struct Case {
        window: Window,
        channels: usize,
        input: Vec<i8>,
        weights: Vec<i8>,
        bias: Vec<i32>,
        scale: Vec<f32>,
        hardswish: Option<f32>,
    }

    impl Case {
        fn new(window: Window, channels: usize, hardswish: Option<f32>) -> Self {
            let bias = numbers(channels, 3).iter().map(|number| (number * 3000.0) as i32).collect();
            let scale = numbers(channels, 4).iter().map(|number| number.abs() * 0.003 + 1e-4).collect();
            Self {
                window,
                channels,
                input: bytes(window.input[0] * window.input[1] * channels, 1),
                weights: bytes(window.kernel[0] * window.kernel[1] * channels, 2),
                bias,
                scale,
                hardswish,
            }
        }

        fn expected(&self) -> Vec<i8> {
            let Self { window, channels, .. } = *self;
            let pixels =
                (0..window.output[0] * window.output[1]).flat_map(|pixel| (0..channels).map(move |c| (pixel, c)));
            let byte = |(pixel, channel): (usize, usize)| {
                let taps = window.plain_taps(pixel / window.output[1], pixel % window.output[1]);
                let products = taps.map(|(tap, pixel)| {
                    let byte = i32::from(self.input[pixel * channels + channel]) - ZERO_POINTS[0];
                    byte * i32::from(self.weights[tap * channels + channel])
                });
                let number = f64::from(products.sum::<i32>() + self.bias[channel]) * f64::from(self.scale[channel]);
                let number = self
                    .hardswish
                    .map_or(number, |inverse| number * (number + 3.0).clamp(0.0, 6.0) / 6.0 * f64::from(inverse));
                (number.round_ties_even() + f64::from(ZERO_POINTS[1])).clamp(5.0, 100.0) as i8
            };
            pixels.map(byte).collect()
        }

        /// The output, computed in two parts.
        fn actual(&self, dots: Dots) -> Vec<i8> {
            let Self { ref window, channels, ref input, ref weights, ref bias, ref scale, hardswish } = *self;
            let middle = window.output[0] / 2;
            let row = window.output[1] * channels;
            let mut output = vec![0; window.output[0] * row];
            let (first, last) = output.split_at_mut(middle * row);
            for (rows, output) in [(0..middle, first), (middle..window.output[0], last)] {
                let tensors = Tensors { window, channels, input, weights, rows, output };
                let requantization = Requantization { scale, zero_point: ZERO_POINTS[1], range: RANGE, hardswish };
                let zero_point = ZERO_POINTS[0] as i8;
                run(dots, Depthwise { tensors, zero_point, bias, requantization }).unwrap();
            }
            output
        }
    }

    /// Fails unless every dot product variant has the expected results, bit-identical across variants.
    fn assert_right(case: &Case) {
        let (expected, portable) = (case.expected(), case.actual(Dots::Portable));
        for dots in Level::available().flat_map(Dots::available) {
            let what = std::format!("{:?} {} {:?} {dots:?}", case.window, case.channels, case.hardswish);
            let actual = case.actual(dots);
            assert_nearly_equal(&what, &actual, &expected);
            assert!(actual == portable, "{what}: not what portable code computes");
        }
    }

    #[test]
    fn it_is_a_sum_over_the_window_as_bytes() {
        for window in windows() {
            for channels in [1, 3, 8, 16, 17, 40, 72, 100] {
                assert_right(&Case::new(window, channels, None));
                assert_right(&Case::new(window, channels, Some(40.0)));
            }
        }
    }

    #[test]
    fn windows_and_images_may_be_large() {
        for window in large_windows() {
            for channels in [16, 72] {
                assert_right(&Case::new(window, channels, Some(3.0)));
            }
        }
    }

    #[test]
    fn the_greatest_products_do_not_saturate() {
        for weight in [-128, 127] {
            for input in [-128, 127] {
                let mut case = Case::new(windows()[0], 16, None);
                case.input.fill(input);
                case.weights.fill(weight);
                case.scale.fill(3e-4);
                assert_right(&case);
            }
        }
    }
}
