//! The int8 kernels, bit for bit, against a plain computation with 64-bit integers.

mod net;

use et_core::ScalarType;
use etbuild_conformance::{compile, load, run};
use etbuild_ir::{Argument, Graph};
use net::{Net, PLAIN, Quantized, ROWS, Shape, board, candidate, random_inputs};

const SCALE: f64 = 1.0 / 120.0;
const ZERO: i64 = 3;
const RESULT: (f64, i64) = (0.012, -30);

/// TensorFlow Lite's `QuantizeMultiplier`.
fn multiplier(real: f64) -> (i64, i32) {
    let (mut fraction, mut exponent) = (real, 0);
    while fraction >= 1.0 {
        (fraction, exponent) = (fraction / 2.0, exponent + 1);
    }
    while fraction < 0.5 {
        (fraction, exponent) = (fraction * 2.0, exponent - 1);
    }
    let fixed = (fraction * 2_f64.powi(31)).round() as i64;
    if fixed == 1 << 31 { (fixed / 2, exponent + 1) } else { (fixed, exponent) }
}

/// TensorFlow Lite's `MultiplyByQuantizedMultiplier`, after the definition: round the doubled high product to nearest, then divide,
/// halves away from zero.
fn requantized(sum: i64, real: f64) -> i64 {
    let (fixed, exponent) = multiplier(real);
    let product = (sum << exponent.max(0)) * fixed;
    let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    let high = (product + nudge) / (1 << 31);
    let divisor = 1_i64 << (-exponent).max(0);
    let magnitude = (high.abs() + divisor / 2) / divisor;
    magnitude * high.signum()
}

/// The constants of a network with one product: weights, scales and biases.
struct Constants {
    weights: Vec<i64>,
    scales: Vec<f64>,
    bias: Vec<f64>,
}

impl Constants {
    fn of(graph: &Graph) -> Self {
        let reals = |index: usize| -> Vec<f64> {
            let mut constants = graph
                .values_with_ids()
                .filter(|(id, value)| graph.constant(*id).is_some() && value.spec.scalar_type == ScalarType::Float);
            let (id, _) = constants.nth(index).unwrap();
            let bytes = graph.constant(id).unwrap().bytes();
            bytes.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
        };
        let (id, _) = graph
            .values_with_ids()
            .find(|(id, value)| graph.constant(*id).is_some() && value.spec.scalar_type == ScalarType::Char)
            .unwrap();
        let weights = graph.constant(id).unwrap().bytes().iter().map(|byte| i64::from(byte.cast_signed())).collect();
        Self { weights, scales: reals(0), bias: reals(1) }
    }

    /// The result of a channel for the sum of products.
    fn result(&self, channel: usize, sum: i64) -> i8 {
        let scale = SCALE * self.scales[channel];
        let bias = (self.bias[channel] / scale).round_ties_even() as i64;
        let result = requantized(sum + bias, scale / RESULT.0) + RESULT.1;
        result.clamp(-128, 127) as i8
    }
}

/// int8 of float32 numbers, without the zero point.
fn integers(bytes: &[u8]) -> Vec<i64> {
    let inverse = (1.0 / SCALE) as f32;
    let numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    numbers.map(|number| ((number * inverse).round_ties_even() as i64 + ZERO).clamp(-128, 127) - ZERO).collect()
}

/// The backend's int8 result of a network of one product, with its graph and inputs.
fn computed(
    sizes: &[i32],
    (seed, int4): (u32, bool),
    build: impl Fn(&mut Net, Quantized) -> etbuild_ir::ValueId,
) -> (Vec<u8>, Graph, Vec<u8>) {
    let mut net = Net::new(seed);
    net.int4 = int4;
    let input = net.input(sizes);
    let input = net.quantize(input, SCALE, ZERO);
    let output = build(&mut net, input);
    let output = net.quantize(output, RESULT.0, RESULT.1);
    let program = net.program(&[output.id]);
    let (inputs, graph) = (random_inputs(&program, seed), program.program().methods["forward"].clone());
    let mut results = ROWS.map(|row| {
        let target = board(row);
        let candidate = candidate(&target);
        let compiled = compile(program.clone(), &candidate).unwrap();
        run(&mut load(&compiled.file, &candidate).unwrap(), &inputs).unwrap().remove(0).bytes
    });
    assert!(results.iter().all(|result| *result == results[0]), "the rows differ");
    (std::mem::take(&mut results[0]), graph, inputs.concat())
}

#[test]
fn linear_layers_are_bit_exact() {
    let shapes = [(1, 64, 12), (2, 37, 9), (3, 130, 33)];
    for ((seed, inner, columns), int4) in shapes.into_iter().flat_map(|shape| [(shape, false), (shape, true)]) {
        let (got, graph, input) = computed(&[2, inner], (seed, int4), |net, input| net.linear(input, columns));
        let (constants, input) = (Constants::of(&graph), integers(&input));
        let rows = input.chunks(inner as usize);
        let expected = rows.flat_map(|row| {
            constants
                .weights
                .chunks(inner as usize)
                .enumerate()
                .map(|(channel, weights)| {
                    let sum = row.iter().zip(weights).map(|(left, right)| left * right).sum();
                    constants.result(channel, sum).cast_unsigned()
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(got, expected.collect::<Vec<_>>());
    }
}

#[test]
fn convolutions_are_bit_exact() {
    let dense = Shape { kernel: [3, 3], pad: [1, 1], ..PLAIN };
    let shapes = [
        (dense, 6, 5),
        (Shape { stride: 2, kernel: [4, 3], pad: [2, 1], ..PLAIN }, 6, 6),
        (PLAIN, 6, 7),
        (Shape { groups: 6, ..dense }, 6, 6),
        (Shape { groups: 6, stride: 2, kernel: [5, 3], pad: [2, 2], ..PLAIN }, 6, 6),
        (Shape { groups: 8, stride: 2, ..dense }, 8, 8),
        (Shape { groups: 2, ..dense }, 6, 10),
        (Shape { groups: 3, stride: 2, ..PLAIN }, 6, 9),
        (Shape { groups: 6, stride: 2, ..dense }, 6, 12),
        (Shape { groups: 3, kernel: [5, 3], pad: [2, 2], ..PLAIN }, 3, 15),
    ];
    let (height, width) = (8, 7);
    let forms = (1..).zip(shapes).flat_map(|shape| [(shape, false), (shape, true)]);
    for ((seed, (shape, channels, outputs)), int4) in forms {
        let build = |net: &mut Net, input| net.convolution(input, outputs, shape);
        let (got, graph, input) = computed(&[1, channels, height, width], (seed, int4), build);
        let (constants, input) = (Constants::of(&graph), integers(&input));
        let sizes = &graph.spec(graph.outputs[0]).sizes;
        let (out_height, out_width) = (sizes[2], sizes[3]);
        let inner = channels / shape.groups as i32;
        let mut expected = Vec::new();
        for (channel, row, column) in places(outputs, out_height, out_width) {
            let first = channel / (outputs / shape.groups as i32) * inner;
            let taps = places(inner, shape.kernel[0], shape.kernel[1]).map(|(plane, down, right)| {
                let y = row * shape.stride as i32 + down - shape.pad[0] as i32;
                let x = column * shape.stride as i32 + right - shape.pad[1] as i32;
                let is_inside = (0..height).contains(&y) && (0..width).contains(&x);
                let element = if is_inside { input[(((first + plane) * height + y) * width + x) as usize] } else { 0 };
                let weight = ((channel * inner + plane) * shape.kernel[0] + down) * shape.kernel[1] + right;
                element * constants.weights[weight as usize]
            });
            expected.push(constants.result(channel as usize, taps.sum()).cast_unsigned());
        }
        assert_eq!(got, expected, "{seed} {int4}");
    }
}

/// TensorFlow Lite's sum of two numbers, without their zero points, of operands and a result with these scales.
fn summed(left: i64, right: i64, [left_scale, right_scale, scale]: [f64; 3]) -> i64 {
    let twice = 2.0 * left_scale.max(right_scale);
    let scaled = |number: i64, scale: f64| requantized(number << 20, scale / twice);
    requantized(scaled(left, left_scale) + scaled(right, right_scale), twice / (f64::from(1 << 20) * scale))
}

#[test]
fn sums_are_bit_exact() {
    for (seed, other) in [(1, 0.004), (2, 0.031)] {
        let sizes = [1, 300];
        let build = |net: &mut Net, input: Quantized| {
            let left = net.dequantize(input);
            // The other operand has the same elements with another scale.
            let right = net.quantize(left, other, 0);
            let right = net.dequantize(right);
            net.node("aten.add.Tensor", &sizes, vec![Argument::Value(left), Argument::Value(right), Argument::Int(1)])
        };
        let (got, _, input) = computed(&sizes, (seed, false), build);
        let expected = integers(&input).into_iter().map(|left| {
            let right = ((left as f32 * SCALE as f32) * (1.0 / other) as f32).round_ties_even() as i64;
            let sum = summed(left, right.clamp(-128, 127), [SCALE, other, RESULT.0]) + RESULT.1;
            (sum.clamp(-128, 127) as i8).cast_unsigned()
        });
        assert_eq!(got, expected.collect::<Vec<_>>(), "{other}");
    }
}

fn places(planes: i32, rows: i32, columns: i32) -> impl Iterator<Item = (i32, i32, i32)> {
    (0..planes)
        .flat_map(move |plane| (0..rows).flat_map(move |row| (0..columns).map(move |column| (plane, row, column))))
}
