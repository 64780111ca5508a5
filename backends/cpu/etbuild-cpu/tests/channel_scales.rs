//! Per-channel scales in front of a GEMM (squeeze-and-excite) become scales of the weights.

mod part;

use etbuild_ir::{Argument, LoweredProgram};
use part::{Made, computed_alike, numbers};

const PIXELS: [usize; 2] = [12, 13];
const CHANNELS: usize = 20;
const COLUMNS: usize = 37;

/// Pixels with one channel more, from which the first convolution computes the image.
struct Weights {
    first: Vec<f32>,
    second: Vec<f32>,
    bias: Vec<f32>,
}

fn weights() -> Weights {
    Weights { first: numbers(CHANNELS, 1), second: numbers(CHANNELS * COLUMNS, 2), bias: numbers(COLUMNS, 3) }
}

/// `second(first(x) * factors)`.
fn excitation(weights: &Weights) -> LoweredProgram {
    let mut made = Made::default();
    let [input, factors] = [("x", [1, 1, PIXELS[0], PIXELS[1]]), ("factors", [1, CHANNELS, 1, 1])]
        .map(|(name, sizes)| made.input(name, &sizes));
    let first = made.constant(&[CHANNELS, 1, 1, 1], &weights.first);
    let sizes = |channels| [1, channels, PIXELS[0], PIXELS[1]];
    let image = made.convolution([Argument::Value(input), first, Argument::None], sizes(CHANNELS), 0, 1);
    let operands = vec![Argument::Value(image), Argument::Value(factors)];
    let excited = made.node("aten.mul.Tensor", &sizes(CHANNELS), operands);
    let second = made.constant(&[COLUMNS, CHANNELS, 1, 1], &weights.second);
    let bias = made.constant(&[COLUMNS], &weights.bias);
    let output = made.convolution([Argument::Value(excited), second, bias], sizes(COLUMNS), 0, 1);
    made.program(output)
}

/// The reference value of an output element in double precision.
fn plain(weights: &Weights, factors: &[f32], pixel: f32, column: usize) -> f64 {
    let channel = |channel: usize| {
        let [first, factor] = [weights.first[channel], factors[channel]].map(f64::from);
        f64::from(pixel) * first * factor * f64::from(weights.second[column * CHANNELS + channel])
    };
    (0..CHANNELS).map(channel).sum::<f64>() + f64::from(weights.bias[column])
}

fn inputs() -> [Vec<f32>; 2] {
    [numbers(PIXELS[0] * PIXELS[1], 4), numbers(CHANNELS, 5)]
}

#[test]
fn threads_compute_the_same_bits_and_they_are_right() {
    let (weights, inputs) = (weights(), inputs());
    let [image, factors] = &inputs;
    let results = computed_alike(|| excitation(&weights), &inputs, &[2, 3]);
    for (index, result) in results.iter().enumerate() {
        let (column, pixel) = (index / image.len(), index % image.len());
        let expected = plain(&weights, factors, image[pixel], column);
        assert!((result - expected).abs() < 1e-5, "{column} {pixel}: {result} is not {expected}");
    }
}
