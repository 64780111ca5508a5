//! LSTM and GRU against the portable kernels, and bit for bit against a plain computation of the same fixed-point numbers.

mod net;

use et_core::ScalarType;
use etbuild_backend::TargetFacts;
use etbuild_conformance::{compile, load, run};
use etbuild_ir::{Graph, LoweredProgram};
use net::{Cell, Net, candidate, random_inputs};

const SCALE: f64 = 1.0 / 120.0;
const ZERO: i64 = 3;
const TIME: i32 = 20;
const FEATURES: i32 = 7;
const HIDDEN: i32 = 9;

fn program(cell: Cell, bidirectional: bool, seed: u32) -> LoweredProgram {
    let mut net = Net::new(seed);
    let input = net.input(&[2, TIME, FEATURES]);
    let input = net.quantize(input, SCALE, ZERO);
    let output = net.recurrent(input, cell, HIDDEN, bidirectional);
    let output = net.quantize(output, 1.0 / 128.0, 0);
    net.program(&[output.id])
}

/// The int8 results on a row, or of the portable kernels.
fn results(program: LoweredProgram, inputs: &[Vec<u8>], row: Option<&str>) -> Vec<i8> {
    let target = TargetFacts {
        architecture: "thumb".to_owned(),
        features: row.into_iter().map(str::to_owned).collect(),
        hosted: row.is_none(),
        ..TargetFacts::default()
    };
    let candidate = candidate(&target);
    let compiled = compile(program, &candidate).unwrap();
    let refused: Vec<_> = compiled.partitioned.report.iter().filter(|node| !node.refusals.is_empty()).collect();
    assert_eq!(refused.is_empty(), row.is_some(), "{refused:?}");
    let outputs = run(&mut load(&compiled.file, &candidate).unwrap(), inputs).unwrap();
    outputs[0].bytes.iter().map(|byte| byte.cast_signed()).collect()
}

#[test]
fn results_are_within_two_steps_of_the_portable_kernels_and_equal_on_all_rows() {
    for (cell, bidirectional, seed) in
        [(Cell::Lstm, false, 1), (Cell::Lstm, true, 2), (Cell::Gru, false, 3), (Cell::Gru, true, 4)]
    {
        let inputs = random_inputs(&program(cell, bidirectional, seed), seed);
        let of = |row| results(program(cell, bidirectional, seed), &inputs, row);
        let (expected, got) = (of(None), of(Some("plain")));
        for row in ["dsp", "thumb2", "mve"] {
            assert_eq!(got, of(Some(row)), "{row}");
        }
        let distances = expected.iter().zip(&got).map(|(left, right)| left.abs_diff(*right));
        assert!(distances.max().unwrap() <= 2, "{cell:?} {expected:?} {got:?}");
        assert!(expected.iter().any(|number| number.abs() > 30), "the outputs say nothing");
    }
}

/// The constants of a type, in order.
fn constants(graph: &Graph, scalar_type: ScalarType) -> Vec<&[u8]> {
    let values = graph.values_with_ids().filter(|(_, value)| value.spec.scalar_type == scalar_type);
    values.filter_map(|(id, _)| Some(graph.constant(id)?.bytes())).collect()
}

fn reals(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
}

/// A matrix with biases, whose products have 12 fractional bits.
struct Matrix {
    weights: Vec<i64>,
    scales: Vec<f64>,
    biases: Vec<f64>,
}

impl Matrix {
    /// The products with a column without its zero point.
    fn of(&self, column: &[i64], scale: f64) -> Vec<i64> {
        let rows = self.weights.chunks(column.len()).zip(self.scales.iter().zip(&self.biases));
        rows.map(|(weights, (of_row, bias))| {
            let scale = scale * of_row;
            let sum: i64 = weights.iter().zip(column).map(|(left, right)| left * right).sum();
            saturated(requantized(sum + (bias / scale).round_ties_even() as i64, scale * 4096.0))
        })
        .collect()
    }
}

/// TensorFlow Lite's `MultiplyByQuantizedMultiplier` of an int64.
fn requantized(sum: i64, real: f64) -> i64 {
    let exponent = real.log2().floor() as i32 + 1;
    let fixed = (real * 2_f64.powi(31 - exponent)).round() as i64;
    let reduced = if fixed < 0x7fff_0000 { (fixed + (1 << 15)) >> 16 } else { 0x7fff };
    let shift = 15 - exponent;
    (sum * reduced + (1 << (shift - 1))) >> shift
}

fn saturated(number: i64) -> i64 {
    number.clamp(-32_768, 32_767)
}

fn rounded(number: i64, bits: u32) -> i64 {
    (number + (1 << (bits - 1))) >> bits
}

/// A function on a line between numbers that are 128 apart, with TensorFlow Lite's choice of the first.
fn look_up(function: impl Fn(f64) -> f64, number: i64) -> i64 {
    let at = |number: f64| function(number / 4096.0) * 32_768.0;
    let entry = |line: i64| {
        let first = line as f64 * 128.0;
        let between = ((at(first + 128.0) + at(first).round()) / 2.0).round();
        let error = ((between - at(first + 64.0).round()) / 2.0).round();
        (at(first).round() - if line < 256 { error } else { 0.0 }).clamp(-32_768.0, 32_767.0) as i64
    };
    let line = number >> 7;
    entry(line) + (((entry(line + 1) - entry(line)) * (number & 127) + 64) >> 7)
}

fn sigmoid(number: i64) -> i64 {
    look_up(|number| 1.0 / (1.0 + (-number).exp()), number)
}

fn tanh(number: i64) -> i64 {
    look_up(f64::tanh, number)
}

/// The next states of a unit: hidden with 15 fractional bits, and cell with 11.
fn step(cell: Cell, from_input: &[i64], from_hidden: &[i64], (unit, hidden, state): (usize, i64, i64)) -> (i64, i64) {
    let place = |gate: usize| gate * HIDDEN as usize + unit;
    let sum = |gate: usize| saturated(from_input[place(gate)] + from_hidden[place(gate)]);
    match cell {
        Cell::Lstm => {
            let (input, forget, output) = (sigmoid(sum(0)), sigmoid(sum(1)), sigmoid(sum(3)));
            let state = saturated(rounded(forget * state, 15) + rounded(input * tanh(sum(2)), 19));
            (saturated(rounded(output * tanh(saturated(2 * state)), 15)), state)
        }
        Cell::Gru => {
            let (reset, update) = (sigmoid(sum(0)), sigmoid(sum(1)));
            let candidate = tanh(saturated(from_input[place(2)] + rounded(reset * from_hidden[place(2)], 15)));
            (saturated(candidate + rounded((hidden - candidate) * update, 15)), 0)
        }
    }
}

#[test]
fn results_are_bit_exact() {
    for (cell, seed) in [(Cell::Lstm, 5), (Cell::Gru, 6)] {
        let program = program(cell, false, seed);
        let (inputs, graph) = (random_inputs(&program, seed), program.program().methods["forward"].clone());
        let got = results(program, &inputs, Some("dsp"));
        let (weights, numbers) = (constants(&graph, ScalarType::Char), constants(&graph, ScalarType::Float));
        let matrix = |index: usize| Matrix {
            weights: weights[index].iter().map(|byte| i64::from(byte.cast_signed())).collect(),
            scales: reals(numbers[2 * index]),
            biases: reals(numbers[2 * index + 1]),
        };
        let (of_input, of_hidden) = (matrix(0), matrix(1));
        let inverse = (1.0 / SCALE) as f32;
        let integer = |real: &f64| (*real as f32 * inverse).round_ties_even().clamp(-131.0, 124.0) as i64;
        let input: Vec<i64> = reals(&inputs[0]).iter().map(integer).collect();
        let mut expected = Vec::new();
        for sequence in input.chunks((TIME * FEATURES) as usize) {
            let (mut hidden, mut state) = (vec![0; HIDDEN as usize], vec![0; HIDDEN as usize]);
            for column in sequence.chunks(FEATURES as usize) {
                let [from_input, from_hidden] = [of_input.of(column, SCALE), of_hidden.of(&hidden, 1.0 / 32_768.0)];
                for unit in 0..HIDDEN as usize {
                    let before = (unit, hidden[unit], state[unit]);
                    (hidden[unit], state[unit]) = step(cell, &from_input, &from_hidden, before);
                }
                expected.extend(hidden.iter().map(|number| rounded(*number, 8).min(127) as i8));
            }
        }
        assert_eq!(got, expected, "{cell:?}");
    }
}
