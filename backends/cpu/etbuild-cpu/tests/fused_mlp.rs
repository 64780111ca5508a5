//! The feed-forward layers of a transformer block: one fused instruction with any number of threads.

mod part;

use et_cpu::Instruction;
use et_gemm::Architecture;
use et_record::Record;
use etbuild_conformance::{compile, load, run};
use etbuild_ir::{Argument, LoweredProgram};
use part::{Made, TOLD, bytes, candidate, computed_alike, numbers, this_machine};

/// The hidden tensor exceeds the cache; bands have 133 and 134 rows.
const ROWS: usize = 401;
const WIDTH: usize = 24;
const HIDDEN: usize = 1200;

/// Weights of the part.
struct Weights {
    scale: Vec<f32>,
    shift: Vec<f32>,
    up: Vec<f32>,
    up_bias: Vec<f32>,
    down: Vec<f32>,
}

fn weights() -> Weights {
    Weights {
        scale: numbers(WIDTH, 1),
        shift: numbers(WIDTH, 2),
        up: numbers(WIDTH * HIDDEN, 3),
        up_bias: numbers(HIDDEN, 4),
        down: numbers(WIDTH * HIDDEN, 5),
    }
}

/// The operand that the network adds to its output.
#[derive(Clone, Copy, PartialEq)]
enum Residual {
    /// `x + down(gelu(up(norm(x))))`.
    Input,
    /// `norm(x) + down(gelu(up(norm(x))))`, as in BERT.
    Normalized,
}

fn feed_forward(weights: &Weights, residual: Residual) -> LoweredProgram {
    let mut made = Made::default();
    let input = made.input("x", &[ROWS, WIDTH]);
    let parameters = [made.constant(&[WIDTH], &weights.scale), made.constant(&[WIDTH], &weights.shift)];
    let [scale, shift] = parameters;
    let shape = Argument::Ints(vec![WIDTH as i64]);
    let arguments = vec![Argument::Value(input), shape, scale, shift, Argument::Float(1e-5), Argument::Bool(true)];
    let normalized = made.node("aten.layer_norm.default", &[ROWS, WIDTH], arguments);
    let (up, bias) = (made.constant(&[HIDDEN, WIDTH], &weights.up), made.constant(&[HIDDEN], &weights.up_bias));
    let hidden = made.node("aten.linear.default", &[ROWS, HIDDEN], vec![Argument::Value(normalized), up, bias]);
    let exact = Argument::Text("none".to_owned());
    let active = made.node("aten.gelu.default", &[ROWS, HIDDEN], vec![Argument::Value(hidden), exact]);
    let down = made.constant(&[WIDTH, HIDDEN], &weights.down);
    let lower = made.node("aten.linear.default", &[ROWS, WIDTH], vec![Argument::Value(active), down, Argument::None]);
    let residual = if residual == Residual::Input { input } else { normalized };
    let operands = vec![Argument::Value(residual), Argument::Value(lower), Argument::Int(1)];
    let sum = made.node("aten.add.Tensor", &[ROWS, WIDTH], operands);
    made.program(sum)
}

/// A row of the same in double precision.
fn plain(weights: &Weights, residual: Residual, row: &[f32]) -> Vec<f64> {
    let numbers: Vec<f64> = row.iter().copied().map(f64::from).collect();
    let mean = numbers.iter().sum::<f64>() / WIDTH as f64;
    let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / WIDTH as f64;
    let norm = |(index, number): (usize, &f64)| {
        (number - mean) / (variance + 1e-5).sqrt() * f64::from(weights.scale[index]) + f64::from(weights.shift[index])
    };
    let normalized: Vec<f64> = numbers.iter().enumerate().map(norm).collect();
    let dot =
        |row: &[f32], with: &[f64]| row.iter().zip(with).map(|(left, right)| f64::from(*left) * right).sum::<f64>();
    let hidden = weights.up.chunks(WIDTH).zip(&weights.up_bias).map(|(row, bias)| {
        let sum = dot(row, &normalized) + f64::from(*bias);
        sum * normal_distribution(sum)
    });
    let hidden: Vec<f64> = hidden.collect();
    let residual = if residual == Residual::Input { &numbers } else { &normalized };
    weights.down.chunks(HIDDEN).zip(residual).map(|(row, number)| number + dot(row, &hidden)).collect()
}

/// The integral of the normal distribution, by Simpson's rule.
fn normal_distribution(to: f64) -> f64 {
    const STEPS: usize = 2000;
    let width = to / STEPS as f64;
    let density = |at: f64| (-at * at / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let weight = |step: usize| if step == 0 || step == STEPS { 1.0 } else { [2.0, 4.0][step % 2] };
    0.5 + (0..=STEPS).map(|step| weight(step) * density(width * step as f64)).sum::<f64>() * width / 3.0
}

#[test]
fn the_hidden_rows_are_never_in_memory_as_a_whole() {
    let target = this_machine();
    let candidate = candidate(&target, 1);
    let compiled = compile(feed_forward(&weights(), Residual::Input), &candidate).unwrap();
    run(&mut load(&compiled.file, &candidate).unwrap(), &[bytes(&numbers(ROWS * WIDTH, 6))]).unwrap();
    TOLD.with_borrow(|told| {
        let [instruction @ Instruction::FusedMlp(_)] = &told[..] else { panic!("{told:?}") };
        let hidden = ROWS * HIDDEN * size_of::<f32>();
        assert!(et_cpu::workspace(instruction, Architecture::Portable, |_| 0) < hidden);
    });
}

#[test]
fn threads_compute_the_same_bits_and_they_are_right() {
    let (weights, input) = (weights(), numbers(ROWS * WIDTH, 6));
    for residual in [Residual::Input, Residual::Normalized] {
        let results = computed_alike(|| feed_forward(&weights, residual), std::slice::from_ref(&input), &[2, 3, 8]);
        for row in [0, 132, 133, 134, 267, ROWS - 1] {
            let expected = plain(&weights, residual, &input[row * WIDTH..][..WIDTH]);
            for (result, expected) in results[row * WIDTH..].iter().zip(expected) {
                assert!((result - expected).abs() < 1e-3, "row {row}: {result} is not {expected}");
            }
        }
    }
}

#[test]
fn a_damaged_one_is_an_error_or_computes_something() {
    let target = this_machine();
    let candidate = candidate(&target, 2);
    let compiled = compile(feed_forward(&weights(), Residual::Input), &candidate).unwrap();
    let input = [bytes(&numbers(ROWS * WIDTH, 6))];
    run(&mut load(&compiled.file, &candidate).unwrap(), &input).unwrap();
    let mut words = Vec::new();
    TOLD.with_borrow(|told| told[0].write(&mut |word| words.extend(word.to_le_bytes())));
    let start = compiled.file.windows(words.len()).position(|window| window == words).unwrap();
    let mut refused = 0;
    for place in (start..start + words.len()).step_by(4) {
        for word in [0, 1, 7, 1 << 20, u32::MAX] {
            let mut file = compiled.file.clone();
            file[place..place + 4].copy_from_slice(&u32::to_le_bytes(word));
            refused += usize::from(load(&file, &candidate).and_then(|mut module| run(&mut module, &input)).is_err());
        }
    }
    assert!(refused > words.len() / 4, "{refused}");
}
