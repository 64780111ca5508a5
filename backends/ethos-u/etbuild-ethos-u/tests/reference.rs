//! The programs of the golden tests: the interpreter against Arm's reference model, bit for bit, and against the portable kernels, which
//! compute in float32 between dequantization and quantization.

mod tools;

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ethos_u::{Array, Lowered, lower_to_tosa};

#[test]
fn the_interpreter_equals_the_reference_model() {
    let Some(folder) = tools::folder() else { return };
    for (name, graph) in tools::programs() {
        let Lowered { graph, .. } = lower_to_tosa(&graph).unwrap();
        for seed in 1..4 {
            let inputs = tools::inputs(&graph, seed);
            assert_eq!(graph.evaluate(&inputs).unwrap(), tools::reference(&folder, &graph, &inputs), "{name}");
        }
    }
}

#[test]
fn integers_are_within_a_step_of_the_portable_kernels() {
    for (name, graph) in tools::programs() {
        let Lowered { graph: tosa, outputs } = lower_to_tosa(&graph).unwrap();
        for seed in 1..4 {
            let inputs = tools::inputs(&tosa, seed);
            let found = tosa.evaluate(&inputs).unwrap();
            let expected = etbuild_ir::interpret(&graph, &named(&graph, &inputs)).unwrap();
            for (output, expected) in outputs.iter().zip(&expected).filter(|(output, _)| output.dequantized.is_none()) {
                check(&name, &found[output.position], expected);
            }
        }
    }
}

/// Softmax of 1 to 96 columns where one number is far above the others, where the numbers are equal but for one, and between both: the sum of
/// exponentials is least, and greatest.
#[test]
fn softmax_of_every_width_is_within_a_step_of_the_portable_kernels() {
    for columns in 1..=96 {
        for scale in [0.001, 0.02, 0.1] {
            let program = etbuild_golden::parse(&softmax(columns, scale)).unwrap();
            let graph = &program.methods["forward"];
            let Lowered { graph: tosa, .. } = lower_to_tosa(graph).unwrap();
            let mut inputs = tools::inputs(&tosa, columns as u32);
            for (place, number) in inputs[0].numbers.iter_mut().enumerate() {
                let (row, column) = (place / columns, place % columns);
                *number = if column == row % columns { 127 } else { (*number / 64 + 120 - 12 * row as i64).max(-128) };
            }
            let found = tosa.evaluate(&inputs).unwrap().remove(0);
            let expected = etbuild_ir::interpret(graph, &named(graph, &inputs)).unwrap().remove(0);
            let pairs = found.numbers.iter().zip(&expected.bytes);
            let most = pairs.map(|(found, byte)| (found - i64::from(byte.cast_signed())).abs()).max();
            assert!(most <= Some(1), "{columns} columns, {scale}: {most:?} steps");
        }
    }
}

fn softmax(columns: usize, scale: f64) -> String {
    let dequantized =
        format!("quantized_decomposed.dequantize_per_tensor.default(%x, {scale}, 3, -128, 127, int8, none)");
    format!(
        "etbuild-ir 1 lowered
method forward
  input %x: int8[20, {columns}]
  %d: float32[20, {columns}] = {dequantized}
  %s: float32[20, {columns}] = aten._softmax.default(%d, -1, false)
  %y: int8[20, {columns}] = quantized_decomposed.quantize_per_tensor.default(%s, 0.00390625, -128, -128, 127, int8)
  return %y
"
    )
}

/// No integer is farther than a step, few are different, and the integers are not all the same.
fn check(name: &str, found: &Array, expected: &OwnedTensor) {
    let pairs = found.numbers.iter().zip(&expected.bytes);
    let distances: Vec<i64> = pairs.map(|(found, byte)| found - i64::from(byte.cast_signed())).collect();
    assert!(distances.iter().all(|distance| distance.abs() <= 1), "{name}: {distances:?}");
    let different = distances.iter().filter(|distance| **distance != 0).count();
    assert!(different * 4 <= distances.len().max(4), "{name}: {different} of {}", distances.len());
    assert!(expected.bytes.iter().any(|byte| *byte != expected.bytes[0]), "{name}: the outputs say nothing");
}

fn named(graph: &etbuild_ir::Graph, inputs: &[Array]) -> BTreeMap<String, OwnedTensor> {
    let tensor = |input: &Array, sizes: &[i32]| OwnedTensor {
        scalar_type: ScalarType::Char,
        sizes: sizes.to_vec(),
        bytes: input.bytes(),
    };
    let inputs = graph.inputs.iter().zip(inputs);
    inputs.map(|(id, input)| (graph.value(*id).name.clone(), tensor(input, &graph.spec(*id).sizes))).collect()
}
