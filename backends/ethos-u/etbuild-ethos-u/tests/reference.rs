//! The programs of the golden tests: the interpreter against Arm's reference model, bit for bit, and against the portable kernels, which
//! compute in float32 between dequantization and quantization.

mod tools;

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ethos_u::{Array, Lowered, Series, lower_to_tosa};

#[test]
fn the_interpreter_equals_the_reference_model() {
    let Some(folder) = tools::folder() else { return };
    for (name, graph) in tools::programs() {
        let Lowered { graph, .. } = lower_to_tosa(&graph, Series::U85).unwrap();
        for seed in 1..4 {
            let inputs = tools::inputs(&graph, seed);
            assert_eq!(graph.evaluate(&inputs).unwrap(), tools::reference(&folder, &graph, &inputs), "{name}");
        }
    }
}

#[test]
fn integers_are_within_a_step_of_the_portable_kernels() {
    for (name, graph) in tools::programs() {
        let Lowered { graph: tosa, outputs } = lower_to_tosa(&graph, Series::U85).unwrap();
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
