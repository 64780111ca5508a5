//! Blobs whose header, slots and instructions are edited field by field: loading and running each is an error or a result, never
//! a crash. A wrong address ends the whole test process, so a fault cannot pass unnoticed.

mod part;

use etbuild_conformance::{compile, load, run};
use etbuild_ir::{Argument, LoweredProgram, ValueId, ValueKind};
use part::{Made, bytes, candidate, computed, numbers, spec, this_machine};

const PIXELS: usize = 9;
const CHANNELS: usize = 20;
const COLUMNS: usize = 36;

/// Words of a header before the first slot, and words of a slot.
const HEADER_WORDS: usize = 17;
const SLOT_WORDS: usize = 5;

/// Where the header states the number of slots, the words of all instructions, and the start of the workspaces.
const SLOTS: usize = 5;
const WORDS: usize = 7;
const WORKSPACES: usize = 10;

/// A 3x3 convolution with an indirection buffer, a depthwise convolution, and a GEMM.
fn program() -> LoweredProgram {
    let mut made = Made::default();
    let input = made.0.add_value("x", spec(&[1, CHANNELS, PIXELS, PIXELS]), ValueKind::Input);
    made.0.inputs.push(input);
    let weights = made.constant(&[COLUMNS, CHANNELS, 3, 3], &numbers(COLUMNS * CHANNELS * 9, 1));
    let first = convolution(&mut made, input, weights, 1);
    let weights = made.constant(&[COLUMNS, 1, 3, 3], &numbers(COLUMNS * 9, 2));
    let second = convolution(&mut made, first, weights, COLUMNS as i64);
    let operands = vec![Argument::Value(second)];
    let output = made.node("aten.relu.default", &[1, COLUMNS, PIXELS, PIXELS], operands);
    made.program(output)
}

fn convolution(made: &mut Made, input: ValueId, weights: Argument, groups: i64) -> ValueId {
    let pair = |number| Argument::Ints(vec![number; 2]);
    let arguments = vec![
        Argument::Value(input),
        weights,
        Argument::None,
        pair(1),
        pair(1),
        pair(1),
        Argument::Bool(false),
        pair(0),
        Argument::Int(groups),
    ];
    made.node("aten.convolution.default", &[1, COLUMNS, PIXELS, PIXELS], arguments)
}

/// A program file with the position of the blob's first word.
fn compiled() -> (Vec<u8>, usize) {
    let target = this_machine();
    let file = compile(program(), &candidate(&target, 2)).unwrap().file;
    let blob = file.windows(4).position(|word| word == b"ETCP").unwrap();
    (file, blob)
}

fn word(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
}

/// Loads and runs a file with some words of the blob replaced; true for a successful run.
fn runs(file: &[u8], edits: &[(usize, u32)]) -> bool {
    let target = this_machine();
    let candidate = candidate(&target, 2);
    let mut copy = file.to_vec();
    for (at, value) in edits {
        copy[*at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    let input = bytes(&numbers(CHANNELS * PIXELS * PIXELS, 3));
    load(&copy, &candidate).and_then(|mut module| run(&mut module, &[input])).is_ok()
}

#[test]
fn the_unchanged_blob_runs_alike_on_any_number_of_threads() {
    assert!(runs(&compiled().0, &[]));
    let input = [numbers(CHANNELS * PIXELS * PIXELS, 3)];
    assert_eq!(computed(program(), &input, 1), computed(program(), &input, 2));
}

/// Workspaces hold indirection buffers: output written over an indirection buffer would be read as addresses.
#[test]
fn workspaces_over_operands_are_refused() {
    let (file, blob) = compiled();
    for start in [512, 64, 0] {
        assert!(!runs(&file, &[(blob + 4 * WORKSPACES, start)]), "{start}");
    }
}

#[test]
fn every_field_may_hold_any_value() {
    let (file, blob) = compiled();
    let slots = word(&file, blob + 4 * SLOTS) as usize;
    let count = HEADER_WORDS + SLOT_WORDS * slots + word(&file, blob + 4 * WORDS) as usize;
    for at in (0..count).map(|word| blob + 4 * word) {
        let value = word(&file, at);
        let hostile = [0, 1, 64, 1 << 16, 1 << 31, u32::MAX, value.wrapping_add(1), value.wrapping_sub(1), value << 1];
        for edit in hostile.into_iter().chain((0..32).step_by(3).map(|bit| value ^ (1 << bit))) {
            runs(&file, &[(at, edit)]);
        }
    }
}

/// Sizes whose product wraps around: 2^62 kernel positions of four channels.
#[test]
fn pairs_of_fields_may_hold_any_values() {
    let (file, blob) = compiled();
    let slots = word(&file, blob + 4 * SLOTS) as usize;
    let first = HEADER_WORDS + SLOT_WORDS * slots;
    let count = first + word(&file, blob + 4 * WORDS) as usize;
    for at in (first..count - 1).map(|word| blob + 4 * word) {
        for pair in [[1 << 31, 1 << 31], [1 << 31, 2], [u32::MAX, u32::MAX], [0, 1 << 31]] {
            runs(&file, &[(at, pair[0]), (at + 4, pair[1])]);
        }
    }
}
