//! Benchmarks the kernels on shapes of real models, on every ISA of this machine: the fraction of the peak multiply-add
//! rate, or of the `memcpy` bandwidth for the same size.
//!
//! `cargo run --release -p et-kernels --example kernel_bench [WORD [LEVEL]]` runs the rows whose name contains the
//! word, on the named ISA only.
#![allow(clippy::print_stdout)] // It is what this is for.

use std::hint::black_box;
use std::time::{Duration, Instant};

use et_core::Half;
use et_kernels::attention::{self, Attention, Causal, Mask, Numbers, Sizes, Slots, Strides, Tokens, attend_cache_part};
use et_kernels::copy::{Strided, copy};
use et_kernels::depthwise::{Requantization, depthwise, depthwise_bytes};
use et_kernels::elementwise::{self, Instruction, Operand, Operation, Output, Program, Source};
use et_kernels::mean::mean;
use et_kernels::normalize::{Normalization, normalize};
use et_kernels::pool::max_pool;
use et_kernels::quantized::{self, Quantization};
use et_kernels::softmax::softmax;
use et_kernels::window::{Image, Window};
use et_simd::{Activation, Float, Level, Simd, Work};

fn main() {
    let [word, only] = [1, 2].map(|index| std::env::args().nth(index).unwrap_or_default());
    for level in Level::available().filter(|level| level.name().contains(&only)) {
        let bench = Bench { level, word: &word, peak: multiply_add_rate(level) };
        println!("{}: {:.1} GFLOP/s at most", level.name(), bench.peak / 1e9);
        elementwise(&bench);
        rows(&bench);
        attentions(&bench);
        caches(&bench);
        depthwise_convolutions(&bench);
        pools(&bench);
        copies(&bench);
        bytes(&bench);
    }
}

/// The ISA and the peak rates of a measurement.
struct Bench<'a> {
    level: Level,
    word: &'a str,
    /// The peak multiply-add rate, in operations per second.
    peak: f64,
}

impl Bench<'_> {
    /// Measures a bandwidth-bound kernel by the bytes `read` and `written`.
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

    /// Measures a compute-bound kernel by the number of multiply-adds.
    fn arithmetic(&self, name: &str, operations: usize, work: impl FnMut()) {
        if !name.contains(self.word) {
            return;
        }
        let rate = operations as f64 / seconds(work);
        println!("  {name:44} {:8.1} GFLOP/s  {:4.0} % of peak", rate / 1e9, 100.0 * rate / self.peak);
    }
}

/// Cache-line aligned elements, as in the tensors of a program.
fn tensor<T: Copy>(count: usize, value: T) -> &'static mut [T] {
    let memory = vec![value; count + 64].leak();
    let skip = memory.as_ptr().align_offset(64);
    &mut memory[skip..][..count]
}

/// The time of an execution: the minimum over many runs, because the machine is shared.
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
    fn run<S: Simd>(self, isa: S) -> f32 {
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

/// Elementwise chains: a residual, activations, and the squeeze-and-excite scaling of MobileNetV3.
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
        let (left, right, output) = (tensor(count, 0.5), tensor(count, -0.25), tensor(count, 0.0));
        let sources = [Source::Tensor(left), Source::Tensor(right)];
        let program = Program { instructions: &instructions, sources: &sources[..tensors], columns };
        let scratch = tensor(elementwise::scratch(&program), 0.0);
        bench.memory(name, 4 * count * tensors, 4 * count, || {
            elementwise::run(bench.level, &program, Output::Floats(output), scratch).unwrap();
        });
    }
    let (input, scale, output) = (tensor(784 * 96, 0.5), tensor(96, 0.25), tensor(784 * 96, 0.0));
    let sources = [Source::Tensor(input), Source::Columns(scale)];
    let instructions = [step(Operation::Mul, [first, second, none])];
    let program = Program { instructions: &instructions, sources: &sources, columns: 96 };
    let scratch = tensor(elementwise::scratch(&program), 0.0);
    bench.memory("mul channels 28x28x96 (MobileNetV3)", 4 * 784 * 96, 4 * 784 * 96, || {
        elementwise::run(bench.level, &program, Output::Floats(output), scratch).unwrap();
    });
}

/// Normalization and softmax of rows.
fn rows(bench: &Bench) {
    for (name, rows, columns) in [("layer norm 197x768 (ViT)", 197, 768), ("layer norm 3136x96 (Swin)", 3136, 96)] {
        let count = rows * columns;
        let (input, weight, output) = (tensor(count, 0.5), tensor(columns, 1.0), tensor(count, 0.0));
        let normalization = Normalization { centered: true, epsilon: 1e-6, weight: Some(weight), bias: Some(weight) };
        bench.memory(name, 4 * count, 4 * count, || {
            normalize(bench.level, input, &normalization, output, columns).unwrap();
        });
    }
    let (input, output) = (tensor(197 * 197 * 12, 0.5), tensor(197 * 197 * 12, 0.0));
    bench.memory("softmax 2364x197 (ViT)", 4 * input.len(), 4 * input.len(), || {
        softmax(bench.level, input, output, 197).unwrap();
    });
}

/// Attention on interleaved heads, as a fused query-key-value projection writes.
fn attentions(bench: &Bench) {
    let rows = [
        ("attention 12x197x64 (ViT)", 1, 12, 197, 64, false),
        ("attention 64 windows 3x49x32 (Swin)", 64, 3, 49, 32, true),
        ("attention 32x512x128", 1, 32, 512, 128, false),
    ];
    for (name, batches, heads, tokens, width, masked) in rows {
        let row = heads * width;
        let projected = tensor(batches * tokens * 3 * row, 0.1);
        let strides = Strides { batch: tokens * 3 * row, head: width, token: 3 * row };
        let (bias, hidden) = (tensor(heads * tokens * tokens, 0.5), tensor(batches * tokens * tokens, 0.0));
        let masks = [
            Mask { numbers: bias, strides: Strides { batch: 0, head: tokens * tokens, token: tokens } },
            Mask { numbers: hidden, strides: Strides { batch: tokens * tokens, head: 0, token: tokens } },
        ];
        let sizes =
            Sizes { batches, heads, key_heads: heads, queries: tokens, keys: tokens, width, value_width: width };
        let attention = Attention {
            sizes,
            scale: 0.125,
            soft_cap: 0.0,
            causal: None,
            slots: Slots::of(tokens),
            query: Tokens { numbers: projected, strides },
            key: Tokens { numbers: Numbers::Floats(&projected[row..]), strides },
            value: Tokens { numbers: Numbers::Floats(&projected[2 * row..]), strides },
            value_row: width,
            masks: if masked { &masks } else { &[] },
            distances: None,
            sinks: None,
            output: Strides { batch: tokens * row, head: width, token: row },
        };
        let (output, scratch) = (tensor(batches * tokens * row, 0.0), tensor(sizes.scratch(), 0.0));
        bench.arithmetic(name, 4 * batches * heads * tokens * tokens * width, || {
            attention::run(bench.level, &attention, output, scratch).unwrap();
        });
    }
}

/// Decode attention over KV caches in each storage type, for a layer of Llama-3.2-1B, of Qwen3-0.6B, and of DeepSeek-V2-Lite, whose values are
/// the beginnings of keys.
fn caches(bench: &Bench) {
    for (model, heads, key_heads, width, value_width) in
        [("Llama 1B", 32, 8, 64, 64), ("Qwen 0.6B", 16, 8, 128, 128), ("DeepSeek V2 Lite", 16, 1, 576, 512)]
    {
        let slots = 8192;
        let halves: Vec<Half> = vec![Half::from_f32(0.3); slots * key_heads * width];
        // Scales of 1/3: 0x3eaa_aaaa.
        let row = [vec![3; width], vec![-86, -86, -86, 62]].concat();
        let (floats, bytes) = (tensor(slots * key_heads * width, 0.3), row.repeat(slots * key_heads));
        let kinds = [
            ("float32", Numbers::Floats(floats), 4),
            ("float16", Numbers::Halves(&halves), 2),
            ("int8", Numbers::Bytes(&bytes), 1),
        ];
        for (kind, kept, size) in kinds {
            let sizes = Sizes { batches: 1, heads, key_heads, queries: 1, keys: slots, width, value_width };
            let strides = |heads, head| Strides { batch: 0, head, token: heads * head };
            let cache = Tokens { numbers: kept, strides: strides(key_heads, kept.row(width)) };
            let attention = Attention {
                sizes,
                scale: 0.125,
                soft_cap: 0.0,
                causal: Some(Causal { first: slots - 1, last: 0, window: usize::MAX, is_mutual: false }),
                slots: Slots::of(slots),
                query: Tokens { numbers: tensor(heads * width, 0.1), strides: strides(heads, width) },
                key: cache,
                value: cache,
                value_row: width,
                masks: &[],
                distances: None,
                sinks: None,
                output: strides(heads, value_width),
            };
            let (output, scratch) = (tensor(heads * value_width, 0.0), tensor(sizes.cache_scratch(), 0.0));
            let name = format!("cache {kind}, {model}, {slots} positions");
            bench.memory(&name, 2 * kept.len() * size, 0, || {
                let (output, items) = (&raw mut output[..], 0..sizes.cache_items());
                #[allow(unsafe_code, reason = "nobody else has the output")]
                // SAFETY: the benchmark owns the output.
                unsafe { attend_cache_part(bench.level, &attention, output, items, scratch) }.unwrap();
            });
        }
    }
}

/// A square kernel, padded to keep the image size at stride 1.
fn window(size: usize, kernel: usize, stride: usize) -> Window {
    let padding = kernel / 2;
    Window {
        input: [size; 2],
        output: [(size + 2 * padding - kernel) / stride + 1; 2],
        kernel: [kernel; 2],
        stride: [stride; 2],
        padding: [padding; 2],
        dilation: [1; 2],
    }
}

/// The depthwise convolutions of MobileNetV3-small and of ConvNeXt.
fn depthwise_convolutions(bench: &Bench) {
    let mobile = [(112, 16, 3, 2), (56, 72, 3, 2), (28, 88, 3, 1), (28, 96, 5, 2), (14, 240, 5, 1), (7, 576, 5, 1)];
    let shapes = mobile.into_iter().chain([(56, 96, 7, 1), (14, 384, 7, 1), (7, 768, 7, 1), (6, 256, 5, 1)]);
    for (size, channels, kernel, stride) in shapes {
        let window = window(size, kernel, stride);
        let pixels = window.output[0] * window.output[1];
        let operations = 2 * pixels * channels * kernel * kernel;
        let (window, rows) = (&window, 0..window.output[0]);
        let (input, weights) = (tensor(size * size * channels, 0.5), tensor(kernel * kernel * channels, 0.25));
        let (bias, output) = (tensor(channels, 0.1), tensor(pixels * channels, 0.0));
        let shape = format!("{size}x{size}x{channels} {kernel}x{kernel}/{stride}");
        bench.arithmetic(&format!("depthwise {shape}"), operations, || {
            let image = Image { window, channels, input: &*input, rows: rows.clone(), output };
            depthwise(bench.level, image, weights, bias, Activation::HardSwish).unwrap();
        });
        let (input, weights) = (tensor(size * size * channels, 5), tensor(kernel * kernel * channels, 7));
        let (bias, scale, output) = (tensor(channels, 0), tensor(channels, 0.01), tensor(pixels * channels, 0));
        let requantization = Requantization { scale, zero_point: 3, range: [-128, 127], hardswish: None };
        bench.arithmetic(&format!("depthwise int8 {shape}"), operations, || {
            let image = Image { window, channels, input: &*input, rows: rows.clone(), output };
            depthwise_bytes(bench.level, image, 1, weights, bias, requantization).unwrap();
        });
    }
}

/// Pooling of ResNet50 and MobileNetV3-small.
fn pools(bench: &Bench) {
    let window = window(112, 3, 2);
    let (input, output) = (tensor(112 * 112 * 64, 0.5), tensor(56 * 56 * 64, 0.0));
    bench.memory("max pool 112x112x64 3x3/2 (ResNet50)", 4 * input.len(), 4 * output.len(), || {
        let image = Image { window: &window, channels: 64, input: &*input, rows: 0..56, output };
        max_pool(bench.level, image).unwrap();
    });
    let (input, output) = (tensor(28 * 28 * 96, 0.5), tensor(96, 0.0));
    bench.memory("global mean 28x28x96 (MobileNetV3)", 4 * input.len(), 4 * 96, || {
        mean(bench.level, input, [1, 28 * 28, 96], output).unwrap();
    });
}

/// Copies of Swin and ViT, and NCHW to NHWC conversion.
fn copies(bench: &Bench) {
    let pixels = 224 * 224;
    let (input, output) = (tensor(56 * 56 * 96, 0.5_f32), tensor(56 * 56 * 96, 0.0));
    let count = 4 * input.len();
    let first_to_last =
        Strided { sizes: &[56 * 56, 96], from: &[1, 56 * 56], from_offset: 0, to: &[96, 1], to_offset: 0 };
    bench.memory("channels last 96x56x56", count, count, || {
        copy(bench.level, &first_to_last, input, output).unwrap();
    });
    let row = 56 * 96;
    let windows = Strided {
        sizes: &[8, 8, 7, 7 * 96],
        from: &[7 * row, 7 * 96, row, 1],
        from_offset: 0,
        to: &[8 * 49 * 96, 49 * 96, 7 * 96, 1],
        to_offset: 0,
    };
    bench.memory("windows of 7x7 from 56x56x96 (Swin)", count, count, || {
        copy(bench.level, &windows, input, output).unwrap();
    });
    let (image, output) = (tensor(3 * pixels, 0.5_f32), tensor(3 * pixels, 0.0));
    let channels_last = Strided { sizes: &[pixels, 3], from: &[1, pixels], from_offset: 0, to: &[3, 1], to_offset: 0 };
    bench.memory("channels last 3x224x224 (input)", 12 * pixels, 12 * pixels, || {
        copy(bench.level, &channels_last, image, output).unwrap();
    });
}

/// int8 kernels.
fn bytes(bench: &Bench) {
    let count = 197 * 768;
    let (input, output) = (tensor(count, 3_i8), tensor(count, 0.0));
    let from = Quantization { scale: 0.02, zero_point: 3 };
    bench.memory("int8 dequantize 197x768 (ViT)", count, 4 * count, || {
        quantized::dequantize(bench.level, input, from, output).unwrap();
    });
}
