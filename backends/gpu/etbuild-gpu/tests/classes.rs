//! Kernels for classes of GPUs at sizes that need more than a tile, a lane or a part: what portable kernels compute.

mod common;

use common::{CPU_DRIVER, ENGINES, target};
use etbuild_backend::GpuFacts;
use etbuild_conformance::{Candidate, compile, load, run};
use etbuild_gpu::BACKEND;
use etbuild_ir::LoweredProgram;

/// A large GPU, whose products are split, and a small one, which has the largest tiles.
const CLASSES: [GpuFacts; 3] = [
    CPU_DRIVER,
    GpuFacts { images: false, subgroup: 0, units: 128, zero_clamp: false, ..CPU_DRIVER },
    GpuFacts { images: false, subgroup: 0, units: 1, zero_clamp: false, ..CPU_DRIVER },
];

/// The elements of each input of a program, as bytes.
type Inputs = Vec<Vec<u8>>;

/// Numbers between -1 and 1 without a pattern in rows or columns.
fn numbers(count: usize, seed: u32) -> Vec<u8> {
    let number = |index: u32| {
        let bits = (index + 1).wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(40_503)).rotate_left(13);
        (bits.wrapping_mul(747_796_405) >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..count as u32).flat_map(|index| number(index).to_le_bytes()).collect()
}

fn indices(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The result of a program whose nodes run on these GPUs; on portable kernels without a GPU.
fn result(text: &str, inputs: &Inputs, gpus: Vec<GpuFacts>) -> Vec<f32> {
    let program = LoweredProgram::verify(etbuild_golden::parse(text).unwrap()).unwrap();
    let is_portable = gpus.is_empty();
    let target = target(gpus);
    let candidate = Candidate { backend: &BACKEND, engines: ENGINES, target: &target, threads: 2, tolerance: 0.0 };
    let compiled = compile(program, &candidate).unwrap();
    let taken = compiled.partitioned.layers.iter().flatten().count();
    assert_eq!(taken == 0, is_portable, "{text}");
    let output = run(&mut load(&compiled.file, &candidate).unwrap(), inputs).unwrap().remove(0);
    output.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Checks the result of a method's statements on every class of GPUs.
fn check(statements: &str, inputs: &Inputs) {
    let text = format!("etbuild-ir 1 lowered\nmethod forward\n{statements}  return %y\n");
    let expected = result(&text, inputs, Vec::new());
    let greatest = expected.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    assert!(greatest > 0.0 && greatest.is_finite(), "{text}");
    for gpu in CLASSES {
        let got = result(&text, inputs, vec![gpu]);
        let error = got.iter().zip(&expected).map(|(got, expected)| (got - expected).abs()).fold(0.0, f32::max);
        assert!(got.len() == expected.len() && error <= 1e-5 * greatest, "{error} of {greatest}, {gpu:?}\n{text}");
    }
}

#[test]
fn a_product_of_partial_tiles_is_split() {
    check(
        "  input %a: float32[70, 600]\n  input %b: float32[600, 90]\n  %y: float32[70, 90] = aten.mm.default(%a, %b)\n",
        &vec![numbers(70 * 600, 1), numbers(600 * 90, 2)],
    );
}

#[test]
fn lanes_share_the_inner_dimension_of_few_rows() {
    check(
        "  input %a: float32[3, 1028]\n  input %b: float32[70, 1028]\n  %y: float32[3, 70] = \
         aten.linear.default(%a, %b, none)\n",
        &vec![numbers(3 * 1028, 3), numbers(70 * 1028, 4)],
    );
}

#[test]
fn a_convolution_is_split_by_kernel_position_and_channel() {
    check(
        "  input %x: float32[1, 64, 9, 9]\n  input %w: float32[40, 64, 3, 3]\n  %y: float32[1, 40, 5, 5] = \
         aten.convolution.default(%x, %w, none, [2, 2], [1, 1], [1, 1], false, [0, 0], 1)\n",
        &vec![numbers(64 * 81, 5), numbers(40 * 64 * 9, 6)],
    );
}

#[test]
fn steps_of_a_first_layer_go_on_from_position_to_position() {
    check(
        "  input %x: float32[1, 3, 30, 30]\n  input %w: float32[40, 3, 7, 7]\n  %y: float32[1, 40, 15, 15] = \
         aten.convolution.default(%x, %w, none, [2, 2], [3, 3], [1, 1], false, [0, 0], 1)\n",
        &vec![numbers(3 * 900, 7), numbers(40 * 3 * 49, 8)],
    );
}

#[test]
fn a_kernel_folds_a_row_and_stores_it() {
    check(
        "  input %x: float32[5, 7, 150]\n  %y: float32[5, 7, 150] = aten._softmax.default(%x, 2, false)\n",
        &vec![numbers(5 * 7 * 150, 9)],
    );
}

#[test]
fn lanes_share_a_fold() {
    check(
        "  input %x: float32[2, 3, 40, 50]\n  %y: float32[2, 3] = aten.mean.dim(%x, [2, 3], false, none)\n",
        &vec![numbers(2 * 3 * 2000, 10)],
    );
}

/// Attention to a cache of 400 slots, `rows` rows from position `start` on.
fn attention(rows: usize, start: i64) {
    let (slots, heads, depth) = (400, 2, 32);
    check(
        &format!(
            "  input %q: float32[1, {rows}, 4, {depth}]\n  input %k: float32[1, {slots}, {heads}, {depth}]\n  \
             input %v: float32[1, {slots}, {heads}, {depth}]\n  input %s: int64[1]\n  input %l: int64[1]\n  \
             %y: float32[1, {rows}, 4, {depth}] = \
             etbuild.attend_cache.default(%q, %k, %v, %s, %l, 0.25, 0, 0.0, none, none)\n"
        ),
        &vec![
            numbers(rows * 4 * depth, 11),
            numbers(slots * heads * depth, 12),
            numbers(slots * heads * depth, 13),
            indices(&[start]),
            indices(&[rows as i64 - 1]),
        ],
    );
}

#[test]
fn the_keys_of_a_decode_step_are_dealt_to_parts() {
    attention(1, 5);
    attention(1, 350);
}

#[test]
fn a_chunk_of_queries_sees_keys_up_to_each_row() {
    attention(100, 0);
    attention(100, 250);
}
