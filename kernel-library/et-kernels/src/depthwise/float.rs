//! `f32` depthwise convolution.

use et_core::Result;
use et_simd::{Activation, Level, Simd, Work};

use super::filter::FloatFilter;
use super::{PIXELS, pairs};
use crate::check::ensure;
use crate::receptive_fields::reduce;
use crate::window::Image;

/// Convolves the output rows of an image. `weights` are `[rows, columns, channels]` of the kernel, `bias` has an element
/// per channel.
#[inline]
pub fn depthwise(
    level: Level,
    image: Image<'_, f32>,
    weights: &[f32],
    bias: &[f32],
    activation: Activation,
) -> Result<()> {
    image.check()?;
    image.check_weights(weights.len(), bias.len())?;
    ensure(activation.is_cheap())?;
    level.run(Depthwise { image, filter: FloatFilter { weights, bias, activation } });
    Ok(())
}

struct Depthwise<'a> {
    image: Image<'a, f32>,
    filter: FloatFilter<'a>,
}

impl Work for Depthwise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, isa: S) {
        if !pairs::convolve(isa, self.filter, &mut self.image) {
            reduce::<S, _, PIXELS>(isa, self.filter, &mut self.image);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use crate::window::Window;
    use crate::window::test::{in_parts, large_windows, plain, windows};
    use core::ops::Range;
    use std::vec;
    use std::vec::Vec;

    /// Geometries for row pairs: receptive fields below, above and between lines, with different vertical and
    /// horizontal sizes.
    fn wide() -> [Window; 6] {
        let window =
            Window { input: [3, 9], output: [6, 9], kernel: [3; 2], stride: [1; 2], padding: [2, 1], dilation: [1; 2] };
        [
            window,
            Window { output: [9, 9], padding: [4, 1], ..window },
            Window { input: [9, 9], output: [7, 9], kernel: [5, 3], padding: [1, 1], ..window },
            Window { input: [9, 11], output: [9, 11], kernel: [3, 5], padding: [1, 2], ..window },
            Window { input: [9, 9], output: [5, 9], stride: [2, 1], padding: [1, 1], ..window },
            Window { input: [11, 15], output: [3, 8], stride: [4, 2], padding: [1, 1], ..window },
        ]
    }

    /// Input, weights and bias.
    fn tensors(window: &Window, channels: usize) -> [Vec<f32>; 3] {
        let counts = [window.input, window.kernel, [1, 1]].map(|[rows, columns]| rows * columns * channels);
        [numbers(counts[0], 1), numbers(counts[1], 2), numbers(counts[2], 3)]
    }

    #[test]
    fn it_is_a_sum_over_the_window() {
        for window in windows().into_iter().chain(large_windows()).chain(wide()) {
            for channels in [1, 3, 8, 16, 17, 40, 72, 100] {
                let [input, weights, bias] = tensors(&window, channels);
                let expected = plain(&window, channels, |channel, taps| {
                    let products = taps.iter().map(|(weight, at)| f64::from(input[*at]) * f64::from(weights[*weight]));
                    products.sum::<f64>() + f64::from(bias[channel])
                });
                let clamped: Vec<f64> = expected.iter().map(|number| number.clamp(0.0, 1.0)).collect();
                for level in Level::available() {
                    let what = std::format!("{window:?} {channels} {}", level.name());
                    for (activation, expected) in
                        [(Activation::None, &expected), (Activation::Clamp(0.0, 1.0), &clamped)]
                    {
                        let run = |image: Image<'_, f32>| depthwise(level, image, &weights, &bias, activation);
                        assert_close(&what, &in_parts(&window, channels, &input, 9.0, run), expected, 1e-5);
                    }
                }
            }
        }
    }

    #[test]
    fn rows_do_not_depend_on_those_beside_them() {
        for window in wide() {
            let channels = 40;
            let [input, weights, bias] = tensors(&window, channels);
            for level in Level::available() {
                let computed = |rows: Range<usize>| {
                    let mut output = vec![9.0; rows.len() * window.output[1] * channels];
                    let image = Image { window: &window, channels, input: &input, rows, output: &mut output };
                    depthwise(level, image, &weights, &bias, Activation::HardSwish).unwrap();
                    output.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                let all = 0..window.output[0];
                let each: Vec<u32> = all.clone().flat_map(|row| computed(row..row + 1)).collect();
                assert!(computed(all) == each, "{window:?} {}", level.name());
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let window = &windows()[0];
        let [count, taps] = [window.input, window.kernel].map(|[rows, columns]| rows * columns);
        let refused = |input: usize, weights: usize, rows: Range<usize>| {
            let (input, weights) = (&*vec![0.0; input], vec![0.0; weights]);
            let mut output = vec![0.0; window.output[0] * window.output[1]];
            let image = Image { window, channels: 1, input, rows, output: &mut output };
            depthwise(Level::Portable, image, &weights, &[0.0], Activation::None).is_err()
        };
        assert!(!refused(count, taps, 0..window.output[0]));
        assert!(refused(count + 1, taps, 0..window.output[0]));
        assert!(refused(count, taps + 1, 0..window.output[0]));
        assert!(refused(count, taps, 0..window.output[0] - 1));
        assert!(refused(count, taps, 1..window.output[0] + 1));
    }
}
