//! Per-channel scales in front of a GEMM (squeeze-and-excite) become scales of the weights.

mod part;

use etbuild_ir::{Argument, LoweredProgram, ValueId, ValueKind};
use part::{Made, computed, numbers, spec};

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

fn convolution(made: &mut Made, input: ValueId, weights: Argument, bias: Argument, columns: usize) -> ValueId {
    let pair = |number| Argument::Ints(vec![number; 2]);
    let rest = [pair(1), pair(0), pair(1), Argument::Bool(false), pair(0), Argument::Int(1)];
    let arguments = [Argument::Value(input), weights, bias].into_iter().chain(rest).collect();
    made.node("aten.convolution.default", &[1, columns, PIXELS[0], PIXELS[1]], arguments)
}

/// `second(first(x) * factors)`.
fn excitation(weights: &Weights) -> LoweredProgram {
    let mut made = Made::default();
    let input = made.0.add_value("x", spec(&[1, 1, PIXELS[0], PIXELS[1]]), ValueKind::Input);
    let factors = made.0.add_value("factors", spec(&[1, CHANNELS, 1, 1]), ValueKind::Input);
    made.0.inputs.extend([input, factors]);
    let first = made.constant(&[CHANNELS, 1, 1, 1], &weights.first);
    let image = convolution(&mut made, input, first, Argument::None, CHANNELS);
    let operands = vec![Argument::Value(image), Argument::Value(factors)];
    let excited = made.node("aten.mul.Tensor", &[1, CHANNELS, PIXELS[0], PIXELS[1]], operands);
    let second = made.constant(&[COLUMNS, CHANNELS, 1, 1], &weights.second);
    let bias = made.constant(&[COLUMNS], &weights.bias);
    let output = convolution(&mut made, excited, second, bias, COLUMNS);
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
    let compute = |threads| computed(excitation(&weights), &inputs, threads);
    let [image, factors] = &inputs;
    let alone = compute(1);
    for threads in [2, 3] {
        assert_eq!(alone, compute(threads), "{threads} threads");
    }
    let results = alone.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
    for (index, result) in results.enumerate() {
        let (column, pixel) = (index / image.len(), index % image.len());
        let expected = plain(&weights, factors, image[pixel], column);
        assert!((result - expected).abs() < 1e-5, "{column} {pixel}: {result} is not {expected}");
    }
}
