//! Times kernels at the shapes of real models, on every instruction set that runs here: the share of the greatest
//! multiply-add rate that they reach, or of the rate at which memory of the same size is copied.
//!
//! `cargo run --release -p et-kernels --example kernel_bench [WORD [LEVEL]]` runs the rows whose name has the
//! word, on the instruction set of that name only.
#![allow(clippy::print_stdout)] // It is what this is for.

use std::hint::black_box;
use std::time::{Duration, Instant};

use et_kernels::attention::{self, Attention, Mask, Strides, Tokens};
use et_kernels::elementwise::{self, Instruction, Operand, Operation, Output, Program, Source};
use et_kernels::normalize::{Normalization, normalize};
use et_kernels::softmax::softmax;
use et_simd::{Float, Isa, Level, Work};

fn main() {
    let [word, only] = [1, 2].map(|index| std::env::args().nth(index).unwrap_or_default());
    for level in Level::available().filter(|level| level.name().contains(&only)) {
        let bench = Bench { level, word: &word, peak: multiply_add_rate(level) };
        println!("{}: {:.1} GFLOP/s at most", level.name(), bench.peak / 1e9);
        elementwise(&bench);
        rows(&bench);
        attentions(&bench);
    }
}

/// Where rows are measured.
struct Bench<'a> {
    level: Level,
    word: &'a str,
    /// The greatest rate of multiplications and additions, in operations per second.
    peak: f64,
}

impl Bench<'_> {
    /// Measures work that is bound by memory: `read` and `written` bytes.
    fn memory(&self, name: &str, read: usize, written: usize, work: impl FnMut()) {
        if !name.contains(self.word) {
            return;
        }
        let bytes = (read + written) as f64;
        let rate = bytes / seconds(work);
        let (from, mut to) = (vec![1_u8; (read + written) / 2], vec![2_u8; (read + written) / 2]);
        let copy = bytes / seconds(|| black_box(&mut to).copy_from_slice(black_box(&from)));
        let [rate_gb, copy_gb] = [rate / 1e9, copy / 1e9];
        println!("  {name:44} {rate_gb:8.1} GB/s     {:4.0} % of a copy's {copy_gb:.1}", 100.0 * rate / copy);
    }

    /// Measures work that is bound by arithmetic: so many multiplications and additions.
    fn arithmetic(&self, name: &str, operations: usize, work: impl FnMut()) {
        if !name.contains(self.word) {
            return;
        }
        let rate = operations as f64 / seconds(work);
        println!("  {name:44} {:8.1} GFLOP/s  {:4.0} % of peak", rate / 1e9, 100.0 * rate / self.peak);
    }
}

/// The time of one execution: the least of many, since others use the machine too.
fn seconds(mut work: impl FnMut()) -> f64 {
    let (start, mut best) = (Instant::now(), f64::MAX);
    let mut executions = 0;
    while executions < 5 || start.elapsed() < Duration::from_millis(150) {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
        executions += 1;
    }
    best
}

struct MultiplyAdd(usize);

impl Work for MultiplyAdd {
    type Output = f32;
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) -> f32 {
        let mut sums = [isa.splat(0.5); 12];
        let factor = isa.splat(black_box(0.999));
        for _ in 0..self.0 {
            for sum in &mut sums {
                *sum = sum.mul_add(factor, factor);
            }
        }
        sums.iter().map(|sum| sum.sum()).sum()
    }
}

fn multiply_add_rate(level: Level) -> f64 {
    const ROUNDS: usize = 100_000;
    let operations = 2 * 12 * ROUNDS * level.lanes();
    operations as f64
        / seconds(|| {
            black_box(level.run(MultiplyAdd(ROUNDS)));
        })
}

fn step(operation: Operation, operands: [Operand; 3]) -> Instruction {
    Instruction { operation, operands, target: 0 }
}

/// Element-wise chains: a residual, activations, and the scaled channels of MobileNetV3.
fn elementwise(bench: &Bench) {
    let [first, second, none] = [Operand::Source(0), Operand::Source(1), Operand::Constant(0.0)];
    let add = step(Operation::Add, [first, second, none]);
    let unary = |operation| vec![step(operation, [first, none, none])];
    let register = Operand::Register(0);
    let rows = [
        ("add, relu 56x56x256 (ResNet50)", vec![add, step(Operation::Relu, [register, none, none])], 3136, 256, 2),
        ("relu 112x112x64 (ResNet50)", unary(Operation::Relu), 12544, 64, 1),
        ("hardswish 28x28x96 (MobileNetV3)", unary(Operation::Hardswish), 784, 96, 1),
        ("gelu 197x3072 (ViT)", unary(Operation::Gelu), 197, 3072, 1),
        ("gelu tanh 197x3072", unary(Operation::GeluTanh), 197, 3072, 1),
        ("sigmoid 197x3072", unary(Operation::Sigmoid), 197, 3072, 1),
        ("exp 197x3072", unary(Operation::Exp), 197, 3072, 1),
    ];
    for (name, instructions, rows, columns, tensors) in rows {
        let count = rows * columns;
        let (left, right, mut output) = (vec![0.5; count], vec![-0.25; count], vec![0.0; count]);
        let sources = [Source::Tensor(&left), Source::Tensor(&right)];
        let program = Program { instructions: &instructions, sources: &sources[..tensors], columns };
        let mut scratch = vec![0.0; elementwise::scratch(&program)];
        bench.memory(name, 4 * count * tensors, 4 * count, || {
            elementwise::run(bench.level, &program, Output::Floats(&mut output), &mut scratch).unwrap();
        });
    }
    let (tensor, scale, mut output) = (vec![0.5; 784 * 96], vec![0.25; 96], vec![0.0; 784 * 96]);
    let sources = [Source::Tensor(&tensor), Source::Columns(&scale)];
    let instructions = [step(Operation::Mul, [first, second, none])];
    let program = Program { instructions: &instructions, sources: &sources, columns: 96 };
    let mut scratch = vec![0.0; elementwise::scratch(&program)];
    bench.memory("mul channels 28x28x96 (MobileNetV3)", 4 * 784 * 96, 4 * 784 * 96, || {
        elementwise::run(bench.level, &program, Output::Floats(&mut output), &mut scratch).unwrap();
    });
}

/// Normalization and softmax of rows.
fn rows(bench: &Bench) {
    for (name, rows, columns) in [("layer norm 197x768 (ViT)", 197, 768), ("layer norm 3136x96 (Swin)", 3136, 96)] {
        let count = rows * columns;
        let (input, weight, mut output) = (vec![0.5; count], vec![1.0; columns], vec![0.0; count]);
        let normalization = Normalization { centered: true, epsilon: 1e-6, weight: Some(&weight), bias: Some(&weight) };
        bench.memory(name, 4 * count, 4 * count, || {
            normalize(bench.level, &input, &normalization, &mut output, columns).unwrap();
        });
    }
    let (input, mut output) = (vec![0.5; 197 * 197 * 12], vec![0.0; 197 * 197 * 12]);
    bench.memory("softmax 2364x197 (ViT)", 4 * input.len(), 4 * input.len(), || {
        softmax(bench.level, &input, &mut output, 197).unwrap();
    });
}

/// Attention of heads whose tokens are neighbours in a row, as one projection to queries, keys and values writes them.
fn attentions(bench: &Bench) {
    let rows = [
        ("attention 12x197x64 (ViT)", 1, 12, 197, 64, false),
        ("attention 64 windows 3x49x32 (Swin)", 64, 3, 49, 32, true),
        ("attention 32x512x128", 1, 32, 512, 128, false),
    ];
    for (name, batches, heads, tokens, width, masked) in rows {
        let row = heads * width;
        let projected = vec![0.1; batches * tokens * 3 * row];
        let strides = Strides { batch: tokens * 3 * row, head: width, token: 3 * row };
        let (bias, hidden) = (vec![0.5; heads * tokens * tokens], vec![0.0; batches * tokens * tokens]);
        let masks = [
            Mask { numbers: &bias, strides: Strides { batch: 0, head: tokens * tokens, token: tokens } },
            Mask { numbers: &hidden, strides: Strides { batch: tokens * tokens, head: 0, token: tokens } },
        ];
        let attention = Attention {
            batches,
            heads,
            key_heads: heads,
            queries: tokens,
            keys: tokens,
            width,
            value_width: width,
            scale: 0.125,
            causal: None,
            query: Tokens { numbers: &projected, strides },
            key: Tokens { numbers: &projected[row..], strides },
            value: Tokens { numbers: &projected[2 * row..], strides },
            masks: if masked { &masks } else { &[] },
            output: Strides { batch: tokens * row, head: width, token: row },
        };
        let mut output = vec![0.0; batches * tokens * row];
        let mut scratch = vec![0.0; attention::scratch(&attention, &attention.whole())];
        bench.arithmetic(name, 4 * batches * heads * tokens * tokens * width, || {
            attention::run(bench.level, &attention, &mut output, &mut scratch).unwrap();
        });
    }
}
