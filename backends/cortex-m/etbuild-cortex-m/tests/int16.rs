//! The int16 kernels, bit for bit, against a plain computation of TensorFlow Lite's 16x8 with 128-bit integers.

mod net;

use et_core::ScalarType;
use etbuild_backend::TargetFacts;
use etbuild_conformance::{compile, load, run};
use etbuild_ir::{Argument, Graph, Node, OperatorName, TensorSpec, ValueId, ValueKind};
use net::{INT16, Net, PLAIN, Quantized, Shape, board, candidate, random_inputs};

const SCALE: f64 = 1.0 / 30_000.0;
const RESULT: f64 = 1.0 / 12_000.0;

/// TensorFlow Lite's `QuantizeMultiplier`.
fn multiplier(real: f64) -> (i128, i32) {
    let (mut fraction, mut exponent) = (real.abs(), 0);
    while fraction >= 1.0 {
        (fraction, exponent) = (fraction / 2.0, exponent + 1);
    }
    while fraction < 0.5 {
        (fraction, exponent) = (fraction * 2.0, exponent - 1);
    }
    let fixed = (fraction * 2_f64.powi(31)).round() as i128;
    let (fixed, exponent) = if fixed == 1 << 31 { (fixed / 2, exponent + 1) } else { (fixed, exponent) };
    (if real < 0.0 { -fixed } else { fixed }, exponent)
}

/// TensorFlow Lite's `MultiplyByQuantizedMultiplier` of an int64: a factor of 15 bits, one rounding, halves up.
fn requantized(sum: i128, (fixed, exponent): (i128, i32)) -> i64 {
    let reduced = if fixed < 0x7fff_0000 { (fixed + (1 << 15)) >> 16 } else { 0x7fff };
    let shift = 15 - exponent;
    ((sum * reduced + (1 << (shift - 1))) >> shift) as i64
}

/// TensorFlow Lite's `MultiplyByQuantizedMultiplier` of an int32: the doubled high product is rounded to nearest, then divided, halves
/// away from zero.
fn requantized32(value: i64, real: f64) -> i64 {
    let (fixed, exponent) = multiplier(real);
    let product = i128::from(value << exponent.max(0)) * fixed;
    let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    let high = (product + nudge) / (1 << 31);
    let divisor = 1_i128 << (-exponent).max(0);
    ((high.abs() + divisor / 2) / divisor * high.signum()) as i64
}

fn clamped(number: i64) -> i16 {
    number.clamp(-32_767, 32_767) as i16
}

/// The constants of a network with one product: weights, scales and biases.
struct Constants {
    weights: Vec<i64>,
    scales: Vec<f64>,
    bias: Vec<f64>,
}

impl Constants {
    fn of(graph: &Graph) -> Self {
        let constants = |of: ScalarType| {
            let values = graph.values_with_ids().filter(move |(_, value)| value.spec.scalar_type == of);
            values.filter_map(|(id, _)| graph.constant(id)).collect::<Vec<_>>()
        };
        let reals = |index: usize| -> Vec<f64> {
            let bytes = constants(ScalarType::Float)[index].bytes().as_chunks::<4>().0;
            bytes.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
        };
        let weights = constants(ScalarType::Char)[0].bytes().iter().map(|byte| i64::from(byte.cast_signed())).collect();
        Self { weights, scales: reals(0), bias: reals(1) }
    }

    /// The result of a channel for the sum of products.
    fn result(&self, channel: usize, sum: i64) -> i16 {
        let scale = SCALE * self.scales[channel];
        let bias = (self.bias[channel] / scale).round_ties_even() as i64;
        clamped(requantized(i128::from(sum + bias), multiplier(scale / RESULT)))
    }
}

/// int16 of float32 numbers.
fn integers(bytes: &[u8], scale: f64) -> Vec<i64> {
    let inverse = (1.0 / scale) as f32;
    let numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    numbers.map(|number| ((number * inverse).round_ties_even() as i64).clamp(-32_767, 32_767)).collect()
}

/// The backend's int16 results of a network, equal for all rows, with the graph and the input.
fn computed(
    sizes: &[i32],
    seed: u32,
    (scale, result): (f64, f64),
    build: impl Fn(&mut Net, Quantized) -> ValueId,
) -> (Vec<i16>, Graph, Vec<i64>) {
    let mut net = Net::new(seed);
    let input = net.input(sizes);
    let input = net.quantize_to(INT16, input, scale, 0);
    let output = build(&mut net, input);
    let output = net.quantize_to(INT16, output, result, 0);
    let program = net.program(&[output.id]);
    let (inputs, graph) = (random_inputs(&program, seed), program.program().methods["forward"].clone());
    let mut results = ["plain", "dsp", "thumb2", "mve"].map(|row| {
        let target = board(row);
        let candidate = candidate(&target);
        let compiled = compile(program.clone(), &candidate).unwrap();
        let refused: Vec<_> = compiled.partitioned.report.iter().filter(|node| !node.refusals.is_empty()).collect();
        assert!(refused.is_empty(), "{refused:?}");
        run(&mut load(&compiled.file, &candidate).unwrap(), &inputs).unwrap().remove(0).bytes
    });
    assert!(results.iter().all(|result| *result == results[0]), "the rows differ");
    let bytes = std::mem::take(&mut results[0]);
    let got: Vec<i16> = bytes.as_chunks::<2>().0.iter().map(|bytes| i16::from_le_bytes(*bytes)).collect();
    assert!(got.iter().any(|number| *number != got[0]), "the outputs say nothing");
    (got, graph, integers(&inputs.concat(), scale))
}

/// 2400 products of a channel need sums in 64 bits.
#[test]
fn linear_layers_are_bit_exact() {
    for (seed, inner, columns) in [(1, 64, 12), (2, 37, 9), (3, 2401, 5)] {
        let (got, graph, input) = computed(&[5, inner], seed, (SCALE, RESULT), |net, input| net.linear(input, columns));
        let constants = Constants::of(&graph);
        let expected = input.chunks(inner as usize).flat_map(|row| {
            let channels = constants.weights.chunks(inner as usize).enumerate();
            channels
                .map(|(channel, weights)| {
                    let sum = row.iter().zip(weights).map(|(left, right)| left * right).sum();
                    constants.result(channel, sum)
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(got, expected.collect::<Vec<_>>(), "{seed}");
    }
}

#[test]
fn convolutions_are_bit_exact() {
    let dense = Shape { kernel: [3, 3], pad: [1, 1], ..PLAIN };
    let shapes = [
        (dense, 6, 5),
        (Shape { stride: 2, kernel: [4, 3], pad: [2, 1], ..PLAIN }, 6, 6),
        (PLAIN, 6, 7),
        (Shape { dilation: 2, pad: [2, 2], ..dense }, 6, 3),
        (Shape { groups: 6, ..dense }, 6, 6),
        (Shape { groups: 6, stride: 2, kernel: [5, 3], pad: [2, 2], ..PLAIN }, 6, 6),
        (Shape { groups: 8, stride: 2, ..dense }, 8, 8),
        (Shape { groups: 2, ..dense }, 6, 10),
        (Shape { groups: 3, stride: 2, ..PLAIN }, 6, 9),
        (Shape { groups: 6, stride: 2, ..dense }, 6, 12),
        (Shape { groups: 3, kernel: [5, 3], pad: [2, 2], ..PLAIN }, 3, 15),
    ];
    let (height, width) = (8, 7);
    for (seed, (shape, channels, outputs)) in (1..).zip(shapes) {
        let build = |net: &mut Net, input| net.convolution(input, outputs, shape);
        let (got, graph, input) = computed(&[1, channels, height, width], seed, (SCALE, RESULT), build);
        let constants = Constants::of(&graph);
        let sizes = &graph.spec(graph.outputs[0]).sizes;
        let inner = channels / shape.groups as i32;
        let mut expected = Vec::new();
        for (channel, row, column) in places(outputs, sizes[2], sizes[3]) {
            let first = channel / (outputs / shape.groups as i32) * inner;
            let taps = places(inner, shape.kernel[0], shape.kernel[1]).map(|(plane, down, right)| {
                let y = row * shape.stride as i32 + down * shape.dilation - shape.pad[0] as i32;
                let x = column * shape.stride as i32 + right * shape.dilation - shape.pad[1] as i32;
                let is_inside = (0..height).contains(&y) && (0..width).contains(&x);
                let element = if is_inside { input[(((first + plane) * height + y) * width + x) as usize] } else { 0 };
                let weight = ((channel * inner + plane) * shape.kernel[0] + down) * shape.kernel[1] + right;
                element * constants.weights[weight as usize]
            });
            expected.push(constants.result(channel as usize, taps.sum()));
        }
        assert_eq!(got, expected, "{seed}");
    }
}

/// Sums, differences and products of a tensor and its image of another scale.
#[test]
fn arithmetic_is_bit_exact() {
    for (seed, operator, other) in
        [(1, "add", 0.000_04), (2, "add", 0.000_3), (3, "sub", 0.000_05), (4, "mul", 0.000_04)]
    {
        let sizes = [1, 300];
        let (got, _, input) = computed(&sizes, seed, (SCALE, RESULT), |net, input| {
            let left = net.dequantize(input);
            let right = net.quantize_to(INT16, left, other, 0);
            let right = net.dequantize(right);
            let factor = (operator != "mul").then_some(Argument::Int(1));
            let arguments = [left, right].map(Argument::Value).into_iter().chain(factor).collect();
            net.node(&format!("aten.{operator}.Tensor"), &sizes, arguments)
        });
        // A change of the scale is a table of lines.
        let rights = computed(&sizes, seed, (SCALE, other), |net, input| net.dequantize(input)).0;
        for ((got, left), right) in got.into_iter().zip(input).zip(rights) {
            let (right, sign) = (i64::from(right), if operator == "sub" { -1.0 } else { 1.0 });
            let twice = 2.0 * SCALE.max(other);
            let expected = match operator {
                "mul" => requantized32(left * right, SCALE * other / RESULT),
                _ => {
                    let [left, right] = [(left, SCALE / twice), (right, sign * other / twice)]
                        .map(|(number, scale)| requantized32(number << 15, scale));
                    requantized32(left + right, twice / (f64::from(1 << 15) * RESULT))
                }
            };
            assert_eq!(got, clamped(expected), "{operator} {left} {right}");
        }
    }
}

#[test]
fn pools_and_means_are_bit_exact() {
    let pool = |net: &mut Net, input: Quantized, is_maximum: bool| {
        let real = net.dequantize(input);
        let (three, two, one) = (Argument::Ints(vec![3, 3]), Argument::Ints(vec![2, 2]), Argument::Ints(vec![1, 1]));
        if !is_maximum {
            let ends = [Argument::Bool(false), Argument::Bool(true), Argument::None];
            let arguments = [Argument::Value(real), three, two, one].into_iter().chain(ends).collect();
            return net.node("aten.avg_pool2d.default", &[1, 5, 4, 3], arguments);
        }
        let arguments = vec![Argument::Value(real), three, two, one.clone(), one, Argument::Bool(false)];
        let outputs = [ScalarType::Float, ScalarType::Long].map(|scalar_type| {
            let spec = TensorSpec::contiguous(scalar_type, [1, 5, 4, 3]);
            net.graph.add_value(scalar_type.name(), spec, ValueKind::Computed)
        });
        let operator = OperatorName::parse("aten.max_pool2d_with_indices.default").unwrap();
        net.graph.nodes.push(Node { operator, arguments, outputs: outputs.to_vec() });
        outputs[0]
    };
    for is_maximum in [false, true] {
        let (got, _, input) = computed(&[1, 5, 8, 6], 7, (SCALE, SCALE), |net, input| pool(net, input, is_maximum));
        let expected = places(5, 4, 3).map(|(channel, row, column)| {
            let window = places(1, 3, 3).map(|(_, down, right)| (2 * row + down - 1, 2 * column + right - 1));
            let inside = window.filter(|(y, x)| (0..8).contains(y) && (0..6).contains(x));
            let elements = inside.map(|(y, x)| input[((channel * 8 + y) * 6 + x) as usize]);
            if is_maximum {
                return clamped(elements.max().unwrap());
            }
            let sum: i64 = elements.sum();
            clamped((sum + if sum > 0 { 4 } else { -4 }) / 9)
        });
        assert_eq!(got, expected.collect::<Vec<_>>());
    }
    let (got, _, input) = computed(&[1, 5, 7, 6], 8, (SCALE, SCALE / 3.0), |net, input| {
        let real = net.dequantize(input);
        let arguments = vec![Argument::Value(real), Argument::Ints(vec![2, 3]), Argument::Bool(false), Argument::None];
        net.node("aten.mean.dim", &[1, 5], arguments)
    });
    // TensorFlow Lite divides the factor by the 42 pixels, after 5 more bits.
    let (fixed, exponent) = multiplier(3.0);
    let factor = ((fixed << 5) / 42, exponent - 5);
    let expected = input.chunks(42).map(|pixels| clamped(requantized(pixels.iter().sum::<i64>().into(), factor)));
    assert_eq!(got, expected.collect::<Vec<_>>());
}

/// TensorFlow Lite's `gen_lut`.
fn table(function: impl Fn(f64) -> f64, least: f64, most: f64, inverse: f64) -> Vec<i64> {
    let step = (most - least) / 512.0;
    let mut table: Vec<i64> = (0..512)
        .map(|place| {
            let at = |place: f64| function(least + place * step) * inverse;
            let place = f64::from(place);
            let sample = at(place).round();
            let between = ((at(place + 1.0) + sample) / 2.0).round();
            let bias = ((between - at(place + 0.5).round()) / 2.0).round();
            (sample - bias).clamp(-32_768.0, 32_767.0) as i64
        })
        .collect();
    table.push((function(most) * inverse).round().clamp(-32_768.0, 32_767.0) as i64);
    table
}

/// TensorFlow Lite's `LUTLookup`.
fn look_up(table: &[i64], number: i64) -> i64 {
    let place = (256 + (number >> 7)) as usize;
    table[place] + (((table[place + 1] - table[place]) * (number & 0x7f) + 64) >> 7)
}

#[test]
fn softmax_is_bit_exact() {
    let exponentials = table(f64::exp, -10.0, 0.0, 32_768.0);
    let inverses = table(|number| 1.0 / (1.0 + number), 0.0, 1.0, 32_768.0);
    for (seed, scale) in [(1, 0.000_03), (2, 0.000_8)] {
        let sizes = [6, 50];
        let (got, _, input) = computed(&sizes, seed, (scale, 1.0 / 32_768.0), |net, input| {
            let real = net.dequantize(input);
            net.node(
                "aten._softmax.default",
                &sizes,
                vec![Argument::Value(real), Argument::Int(-1), Argument::Bool(false)],
            )
        });
        let expected = input.chunks(50).flat_map(|row| {
            let greatest = row.iter().max().unwrap();
            let exponential = |number: &i64| {
                let distance = requantized32(number - greatest, scale / (10.0 / 65_535.0));
                look_up(&exponentials, (distance + 32_767).clamp(-32_768, 32_767))
            };
            let row: Vec<i64> = row.iter().map(exponential).collect();
            let sum: i64 = row.iter().sum();
            let headroom = (sum as u32).leading_zeros();
            let shifted = ((sum << (headroom - 1)) + (1 << 13)) >> 14;
            let inverse = look_up(&inverses, (shifted - (1 << 15) - (1 << 16)).clamp(-32_768, 32_767));
            let shift = 31 - headroom;
            row.into_iter()
                .map(|number| ((number * inverse + (1 << (shift - 1))) >> shift).clamp(0, 32_767) as i16)
                .collect::<Vec<_>>()
        });
        assert_eq!(got, expected.collect::<Vec<_>>());
    }
}

/// A table of lines is within two steps of the function.
#[test]
fn functions_are_lines_between_512_results() {
    let sigmoid = |number: f64| 1.0 / (1.0 + (-number).exp());
    let functions: [(&str, &dyn Fn(f64) -> f64); 3] =
        [("sigmoid", &sigmoid), ("tanh", &f64::tanh), ("silu", &|number| number * sigmoid(number))];
    for (operator, function) in functions {
        let scale = 8.0 / 32_767.0;
        let result = if operator == "silu" { scale } else { 1.0 / 32_768.0 };
        let (got, _, input) = computed(&[1, 400], 3, (scale / 8.0, result), |net, input| {
            let real = net.dequantize(input);
            net.unary(&format!("aten.{operator}.default"), real)
        });
        for (got, number) in got.into_iter().zip(input) {
            let expected = function(number as f64 * scale / 8.0) / result;
            assert!((f64::from(got) - expected).abs() <= 2.0, "{operator} {number}: {got} {expected}");
        }
    }
}

#[test]
fn widths_do_not_mix() {
    let mut net = Net::new(1);
    let input = net.input(&[1, 16]);
    let input = net.quantize(input, 1.0 / 120.0, 3);
    let output = net.linear(input, 4);
    let output = net.quantize_to(INT16, output, RESULT, 0);
    let program = net.program(&[output.id]);
    let target = TargetFacts { architecture: "thumb".to_owned(), hosted: false, ..TargetFacts::default() };
    let candidate = candidate(&target);
    let compiled = compile(program, &candidate).unwrap();
    let refused = compiled.partitioned.report.iter().any(|node| !node.refusals.is_empty());
    assert!(refused, "the layer has an int8 operand and an int16 result");
}

fn places(planes: i32, rows: i32, columns: i32) -> impl Iterator<Item = (i32, i32, i32)> {
    (0..planes)
        .flat_map(move |plane| (0..rows).flat_map(move |row| (0..columns).map(move |column| (plane, row, column))))
}
