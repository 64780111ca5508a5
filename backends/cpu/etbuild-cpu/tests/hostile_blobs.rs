//! Blobs whose header, slots and instructions are edited field by field: loading and running each is an error or a result, never
//! a crash. A wrong address ends the whole test process, so a fault cannot pass unnoticed.

mod part;

use et_cpu::Instruction;
use et_record::Record;
use etbuild_conformance::{compile, load, run};
use etbuild_ir::{Argument, LoweredProgram, ValueId};
use part::{Made, TOLD, bytes, candidate, computed, numbers, this_machine};

const PIXELS: usize = 9;
const CHANNELS: usize = 20;
const COLUMNS: usize = 36;

/// Words of a header before the first slot, and words of a slot.
const HEADER_WORDS: usize = 23;
const SLOT_WORDS: usize = 5;

/// Where the header states the number of slots, the words of all instructions, and the start of the workspaces.
const SLOTS: usize = 5;
const WORDS: usize = 7;
const WORKSPACES: usize = 10;

/// A 3x3 convolution with an indirection buffer, a depthwise convolution, and a GEMM.
fn program() -> LoweredProgram {
    let mut made = Made::default();
    let (input, sizes) = (made.input("x", &[1, CHANNELS, PIXELS, PIXELS]), [1, COLUMNS, PIXELS, PIXELS]);
    let weights = made.constant(&[COLUMNS, CHANNELS, 3, 3], &numbers(COLUMNS * CHANNELS * 9, 1));
    let first = made.convolution([Argument::Value(input), weights, Argument::None], sizes, 1, 1);
    let weights = made.constant(&[COLUMNS, 1, 3, 3], &numbers(COLUMNS * 9, 2));
    let second = made.convolution([Argument::Value(first), weights, Argument::None], sizes, 1, COLUMNS as i64);
    let output = made.node("aten.relu.default", &sizes, vec![Argument::Value(second)]);
    made.program(output)
}

/// Linear layers of int4 in super-blocks with offsets and of int8 in blocks, on rows that are quantized in blocks, and experts of these.
const BLOCKS: &str = r#"
etbuild-ir 1 lowered
method forward
  input %x: float32[4, 512]
  input %rows: float32[2, 1, 512]
  input %chosen: int64[2, 2]
  constant %integers: int8[36, 512] = "integers" ramp(-8, 7)
  constant %scales: float32[36, 16] = "scales" ramp(0.1, 0.7)
  constant %offsets: float32[1, 16, 36] = "offsets" splat(8.0)
  constant %bytes: int8[36, 512] = "bytes" ramp(-128, 127)
  constant %others: int8[36, 512] = "others" ramp(-128, 127)
  %numbers: float32[36, 512] = torchao.dequantize_affine.default(%integers, [1, 32], %scales, none, int8, -8, 7, float32)
  %first: float32[36, 512] = torchao.dequantize_affine.default(%bytes, [1, 32], %scales, none, int8, -128, 127, float32)
  %second: float32[36, 512] = torchao.dequantize_affine.default(%others, [1, 32], %scales, none, int8, -128, 127, float32)
  (%scale: float32[4, 16], %zero: int8[4, 16]) = torchao.choose_qparams_affine.default(%x, "SYMMETRIC", [1, 32], int8, -127, 127, none, none, int8, false)
  %q: int8[4, 512] = torchao.quantize_affine.default(%x, [1, 32], %scale, %zero, int8, -127, 127)
  %r: float32[4, 512] = torchao.dequantize_affine.default(%q, [1, 32], %scale, %zero, int8, -127, 127, float32)
  %view: float32[1, 4, 16, 32] = aten.view_copy.default(%x, [1, 4, 16, 32])
  %means: float32[1, 4, 16] = aten.mean.dim(%view, [-1], false, none)
  %more: float32[1, 4, 36] = aten.bmm.default(%means, %offsets)
  %deep: float32[1, 4, 512] = aten.view_copy.default(%r, [1, 4, 512])
  %part: float32[1, 4, 36] = aten.linear.default(%deep, %numbers, none)
  %sum: float32[1, 4, 36] = aten.add.Tensor(%part, %more, 1)
  %plain: float32[4, 36] = aten.linear.default(%r, %first, none)
  (%scale2: float32[2, 1, 16], %zero2: int8[2, 1, 16]) = torchao.choose_qparams_affine.default(%rows, "SYMMETRIC", [1, 1, 32], int8, -127, 127, none, none, int8, false)
  %q2: int8[2, 1, 512] = torchao.quantize_affine.default(%rows, [1, 1, 32], %scale2, %zero2, int8, -127, 127)
  %r2: float32[2, 1, 512] = torchao.dequantize_affine.default(%q2, [1, 1, 32], %scale2, %zero2, int8, -127, 127, float32)
  %out: float32[2, 2, 36] = etbuild.expert_linear.default(%r2, %chosen, values[%first, %second], none, none)
  return %sum, %plain, %out
"#;

/// A transposed convolution, an LSTM of both directions, and an embedding bag.
const LAYERS: &str = r#"
etbuild-ir 1 lowered
method forward
  input %x: float32[2, 4, 5]
  input %h: float32[2, 4, 3]
  input %i: int64[6]
  constant %w: float32[4, 3, 4] = "w" ramp(-1.0, 1.1)
  constant %b: float32[6] = "b" ramp(-1.0, 1.0)
  constant %wi: float32[12, 5] = "wi" ramp(-1.0, 1.1)
  constant %wh: float32[12, 3] = "wh" ramp(-1.0, 1.1)
  constant %table: float32[10, 8] = "table" ramp(-1.0, 1.0)
  constant %o: int64[2] = "o" ramp(0, 3)
  %c: float32[2, 6, 10] = aten.convolution.default(%x, %w, %b, [2], [1], [1], true, [0], 2)
  (%y: float32[2, 4, 6], %last: float32[2, 4, 3], %cells: float32[2, 4, 3]) = aten.lstm.input(%x, values[%h, %h], values[%wi, %wh, %wi, %wh], false, 1, 0.0, false, true, false)
  (%bag: float32[2, 8], %of: int64[6], %sizes: int64[2], %rows: int64[0]) = aten._embedding_bag.default(%table, %i, %o, false, 1, false, none, false, 4)
  return %c, %y, %last, %cells, %bag
"#;

/// A program and its inputs.
struct Subject {
    program: LoweredProgram,
    inputs: Vec<Vec<u8>>,
}

/// The program of convolutions, that of weights in blocks, and that of layers.
fn subjects() -> [Subject; 3] {
    let convolutions = Subject { program: program(), inputs: vec![bytes(&numbers(CHANNELS * PIXELS * PIXELS, 3))] };
    let chosen = [0_i64, 1, 1, 1].iter().flat_map(|expert| expert.to_le_bytes()).collect();
    let parsed = |text: &str| LoweredProgram::verify(etbuild_golden::parse(text.trim_start()).unwrap()).unwrap();
    let blocks = Subject {
        program: parsed(BLOCKS),
        inputs: vec![bytes(&numbers(4 * 512, 1)), bytes(&numbers(2 * 512, 2)), chosen],
    };
    let indices = [0_i64, 9, 4, 4, 2, 7].iter().flat_map(|index| index.to_le_bytes()).collect();
    let inputs = vec![bytes(&numbers(40, 1)), bytes(&numbers(24, 2)), indices];
    [convolutions, blocks, Subject { program: parsed(LAYERS), inputs }]
}

/// A program file with the position of the blob's first word.
fn compiled(program: LoweredProgram) -> (Vec<u8>, usize) {
    let target = this_machine();
    let file = compile(program, &candidate(&target, 2)).unwrap().file;
    let blob = file.windows(4).position(|word| word == b"ETCP").unwrap();
    (file, blob)
}

fn word(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
}

/// Loads and runs a file with some words of the blob replaced; true for a successful run.
fn runs(file: &[u8], inputs: &[Vec<u8>], edits: &[(usize, u32)]) -> bool {
    let target = this_machine();
    let candidate = candidate(&target, 2);
    let mut copy = file.to_vec();
    for (at, value) in edits {
        copy[*at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    load(&copy, &candidate).and_then(|mut module| run(&mut module, inputs)).is_ok()
}

#[test]
fn the_unchanged_blob_runs_alike_on_any_number_of_threads() {
    for Subject { program, inputs } in subjects() {
        assert!(runs(&compiled(program).0, &inputs, &[]));
    }
    let input = [numbers(CHANNELS * PIXELS * PIXELS, 3)];
    assert_eq!(computed(program(), &input, 1), computed(program(), &input, 2));
}

/// Workspaces hold indirection buffers: output written over an indirection buffer would be read as addresses.
#[test]
fn workspaces_over_operands_are_refused() {
    let [Subject { program, inputs }, ..] = subjects();
    let (file, blob) = compiled(program);
    for start in [512, 64, 0] {
        assert!(!runs(&file, &inputs, &[(blob + 4 * WORKSPACES, start)]), "{start}");
    }
}

#[test]
fn every_field_may_hold_any_value() {
    for Subject { program, inputs } in subjects() {
        let (file, blob) = compiled(program);
        let slots = word(&file, blob + 4 * SLOTS) as usize;
        let count = HEADER_WORDS + SLOT_WORDS * slots + word(&file, blob + 4 * WORDS) as usize;
        for at in (0..count).map(|word| blob + 4 * word) {
            let value = word(&file, at);
            let near = [value.wrapping_add(1), value.wrapping_sub(1), value << 1];
            let hostile = [0, 1, 64, 1 << 16, 1 << 31, u32::MAX].into_iter().chain(near);
            for edit in hostile.chain((0..32).step_by(3).map(|bit| value ^ (1 << bit))) {
                runs(&file, &inputs, &[(at, edit)]);
            }
        }
    }
}

/// Sizes whose product wraps around: 2^62 kernel positions of four channels.
#[test]
fn pairs_of_fields_may_hold_any_values() {
    for Subject { program, inputs } in subjects() {
        let (file, blob) = compiled(program);
        let slots = word(&file, blob + 4 * SLOTS) as usize;
        let first = HEADER_WORDS + SLOT_WORDS * slots;
        let count = first + word(&file, blob + 4 * WORDS) as usize;
        for at in (first..count - 1).map(|word| blob + 4 * word) {
            for pair in [[1 << 31, 1 << 31], [1 << 31, 2], [u32::MAX, u32::MAX], [0, 1 << 31]] {
                runs(&file, &inputs, &[(at, pair[0]), (at + 4, pair[1])]);
            }
        }
    }
}

/// Runs a program of one instruction after an edit of the instruction; true for a successful run.
fn runs_edited(program: LoweredProgram, inputs: &[Vec<f32>], edit: impl Fn(&mut Instruction)) -> bool {
    let target = this_machine();
    let candidate = candidate(&target, 2);
    let mut file = compile(program, &candidate).unwrap().file;
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|input| bytes(input)).collect();
    run(&mut load(&file, &candidate).unwrap(), &inputs).unwrap();
    let mut instruction = TOLD.with_borrow_mut(|told| told.pop()).unwrap();
    let written = |instruction: &Instruction| {
        let mut words = Vec::new();
        instruction.write(&mut |word| words.extend(word.to_le_bytes()));
        words
    };
    let words = written(&instruction);
    let start = file.windows(words.len()).position(|window| window == words).unwrap();
    edit(&mut instruction);
    file[start..start + words.len()].copy_from_slice(&written(&instruction));
    load(&file, &candidate).and_then(|mut module| run(&mut module, &inputs)).is_ok()
}

/// A program of one operator on inputs of these sizes.
fn operator(name: &str, inputs: &[&[usize]], output: &[usize], others: &[Argument]) -> LoweredProgram {
    let mut made = Made::default();
    let ids: Vec<ValueId> = inputs.iter().map(|sizes| made.input("x", sizes)).collect();
    let arguments = ids.into_iter().map(Argument::Value).chain(others.iter().cloned()).collect();
    let output = made.node(name, output, arguments);
    made.program(output)
}

#[test]
fn sizes_of_a_matmul_may_overflow() {
    let program = || operator("aten.bmm.default", &[&[2, 3, 5], &[2, 5, 4]], &[2, 3, 4], &[]);
    let inputs = [numbers(30, 1), numbers(40, 2)];
    let with_sizes = |sizes| {
        runs_edited(program(), &inputs, |instruction| {
            let Instruction::BatchMatmul(fields) = instruction else { panic!("{instruction:?}") };
            fields.sizes = sizes;
        })
    };
    assert!(with_sizes([2, 3, 5, 4]));
    // An inner dimension of 0 reads no element, so that only the output's size is wrong.
    assert!(!with_sizes([u32::MAX, u32::MAX, 0, u32::MAX]));
}

#[test]
fn row_strides_that_a_kernel_does_not_obey_are_refused() {
    let last = [Argument::Int(-1), Argument::Bool(false)];
    for (input, output) in [(8, 8), (9, 8), (8, 4)] {
        let program = operator("aten._softmax.default", &[&[6, 8]], &[6, 8], &last);
        let is_run = runs_edited(program, &[numbers(48, 1)], |instruction| {
            let Instruction::Softmax(fields) = instruction else { panic!("{instruction:?}") };
            (fields.input.stride, fields.output.0.stride) = (input, output);
        });
        assert_eq!(is_run, (input, output) == (8, 8), "{input} {output}");
    }
}
