//! Vela's command streams for all series and sizes, executed by the model of the NPU, against Arm's reference model and the interpreter, bit for
//! bit.

mod tools;

use etbuild_backend::Backend;
use etbuild_ethos_u::{BACKEND, Lowered, lower_to_tosa};

/// The seeds of the inputs.
const SEEDS: std::ops::Range<u32> = 1..4;

#[test]
fn command_streams_equal_the_reference_model() {
    let Some(folder) = tools::folder() else { return };
    let mut streams = 0;
    for (name, graph) in tools::programs() {
        let Lowered { graph: tosa, outputs } = lower_to_tosa(&graph).unwrap();
        let cases = SEEDS.map(|seed| {
            let inputs = tools::inputs(&tosa, seed);
            let expected = tools::reference(&folder, &tosa, &inputs);
            assert_eq!(tosa.evaluate(&inputs).unwrap(), expected, "{name}");
            let expected = outputs.iter().map(|output| expected[output.position].bytes()).collect();
            (inputs, expected)
        });
        let cases: Vec<(_, Vec<Vec<u8>>)> = cases.collect();
        for target in tools::targets() {
            let blob = BACKEND.lower(&graph, &target).unwrap();
            for (inputs, expected) in &cases {
                let found = tools::execute(&blob.bytes, inputs);
                let npu = tools::accelerator(&target);
                assert_eq!(found.as_ref(), Ok(expected), "{name} on {npu}");
            }
            streams += 1;
        }
    }
    assert_eq!(streams, 22 * 11);
}

/// Every command of a stream and every byte of its weights, damaged: an error or other numbers, and never a panic.
#[test]
fn damaged_command_streams_and_weights_never_panic() {
    let Some(_) = tools::folder() else { return };
    let (mut runs, mut faults) = (0, 0);
    for (npu, name) in [(2, "residual"), (5, "table"), (7, "convolution"), (7, "softmax"), (9, "depthwise")] {
        let target = &tools::targets()[npu];
        let (_, graph) = tools::programs().into_iter().find(|(found, _)| found == name).unwrap();
        let inputs = tools::inputs(&lower_to_tosa(&graph).unwrap().graph, 1);
        let blob = BACKEND.lower(&graph, target).unwrap().bytes;
        let start = et_ethos_u::Blob::read(&blob).unwrap().header().commands as usize;
        for place in start..blob.len() {
            let mut damaged = blob.clone();
            damaged[place] ^= [1, 0x10, 0x80, 0xff][place % 4];
            runs += 1;
            faults += usize::from(tools::try_execute(&damaged, &inputs).is_err());
        }
    }
    assert!(faults * 4 > runs, "{faults} of {runs}");
}
