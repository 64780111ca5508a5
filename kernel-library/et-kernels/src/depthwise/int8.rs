//! int8 depthwise convolution: int32 accumulators, requantized to int8.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use et_core::Result;
use et_simd::{Dot, DotWork, Dots, Level};

use super::blocks::{Block, Scratch, one_by_one};
use super::filter::{Int8Filter, Requantization};
use super::lines::{Channels, Plan, lanes};
use crate::check::ensure;
use crate::rows::MOST_LANES;
use crate::window::Image;

/// Convolves the output rows of an image, as [`super::depthwise`]. `zero_point` is the input zero point; `bias` is int32
/// in units of input scale x weight scale.
#[inline]
pub fn depthwise_bytes(
    level: Level,
    image: Image<'_, i8>,
    zero_point: i8,
    weights: &[i8],
    bias: &[i32],
    requantization: Requantization,
) -> Result<()> {
    run(Dots::fastest(level), image, Int8Filter { zero_point, weights, bias, requantization })
}

#[inline]
fn run(dots: Dots, image: Image<'_, i8>, filter: Int8Filter<'_>) -> Result<()> {
    image.check()?;
    image.check_weights(filter.weights.len(), filter.bias.len())?;
    ensure(filter.requantization.scale.len() == image.channels)?;
    dots.run(Depthwise { image, filter });
    Ok(())
}

struct Depthwise<'a> {
    image: Image<'a, i8>,
    filter: Int8Filter<'a>,
}

impl DotWork for Depthwise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<D: Dot>(mut self, dot: D) {
        let (filter, all) = (self.filter, self.image.channels);
        let plan = Plan::new::<D>(self.image.window);
        let padding = [filter.zero_point; MOST_LANES];
        let mut scratch = Scratch::new();
        let channels = Channels { dot, all, first: 0, lanes: lanes::<D>().min(all), padding: &padding };
        // SAFETY: each block has existing channels, and the sizes match the geometry.
        unsafe {
            let Some(plan) = plan else {
                for first in (0..all).step_by(lanes::<D>()) {
                    let first = first.min(all - channels.lanes);
                    one_by_one(&Channels { first, ..channels }, filter, &mut self.image);
                }
                return;
            };
            let vectors = all.div_ceil(lanes::<D>());
            for first in (0..vectors).step_by(plan.depth) {
                let vectors = first..vectors.min(first + plan.depth);
                Block { channels, filter, vectors, plan, scratch: &mut scratch }.run(&mut self.image);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_nearly_equal, bytes, numbers};
    use crate::window::Window;
    use crate::window::test::{in_parts, large_windows, plain, windows};
    use std::vec::Vec;

    const ZERO_POINTS: [i32; 2] = [-11, 5];

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
            let [input, weights] = [window.input, window.kernel].map(|[rows, columns]| rows * columns * channels);
            let (input, weights) = (bytes(input, 1), bytes(weights, 2));
            Self { window, channels, input, weights, bias, scale, hardswish }
        }

        fn expected(&self) -> Vec<i8> {
            plain(&self.window, self.channels, |channel, taps| {
                let byte = |at: usize| i32::from(self.input[at]) - ZERO_POINTS[0];
                let products = taps.iter().map(|(weight, at)| byte(*at) * i32::from(self.weights[*weight]));
                let number = f64::from(products.sum::<i32>() + self.bias[channel]) * f64::from(self.scale[channel]);
                let number = self
                    .hardswish
                    .map_or(number, |inverse| number * (number + 3.0).clamp(0.0, 6.0) / 6.0 * f64::from(inverse));
                (number.round_ties_even() + f64::from(ZERO_POINTS[1])).clamp(5.0, 100.0) as i8
            })
        }

        fn actual(&self, dots: Dots) -> Vec<i8> {
            let Self { weights, bias, scale, hardswish, .. } = self;
            let requantization =
                Requantization { scale, zero_point: ZERO_POINTS[1], range: [5, 100], hardswish: *hardswish };
            let filter = Int8Filter { zero_point: ZERO_POINTS[0] as i8, weights, bias, requantization };
            in_parts(&self.window, self.channels, &self.input, 0, |image| run(dots, image, filter))
        }
    }

    /// Fails unless every dot product variant has the expected results, bit-identical across variants.
    fn assert_right(case: &Case) {
        let (expected, portable) = (case.expected(), case.actual(Dots::fastest(Level::Portable)));
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
