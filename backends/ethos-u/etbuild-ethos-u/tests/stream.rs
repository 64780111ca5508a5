//! Vela's command streams, executed by the model of the NPU, against Arm's reference model, bit for bit.

mod tools;

use etbuild_backend::Backend;
use etbuild_ethos_u::{BACKEND, Series, lower_to_tosa};

#[test]
fn command_streams_equal_the_reference_model() {
    let Some(folder) = tools::folder() else { return };
    let mut bad = Vec::new();
    for target in tools::targets() {
        for (name, graph) in tools::programs() {
            let series = Series::of(tools::accelerator(&target)).unwrap();
            let Ok(lowered) = lower_to_tosa(&graph, series) else { continue };
            let Ok(blob) = BACKEND.lower(&graph, &target) else { bad.push(name); continue };
            for seed in 1..4 {
                let inputs = tools::inputs(&lowered.graph, seed);
                let expected = tools::reference(&folder, &lowered.graph, &inputs);
                let expected: Vec<_> = lowered.outputs.iter().map(|output| expected[output.position].bytes()).collect();
                let found = tools::execute(&blob.bytes, &inputs);
                if found.as_ref() != Ok(&expected) {
                    let n = found.as_ref().map(|f| f[0].iter().zip(&expected[0]).filter(|(a, b)| a != b).count());
                    bad.push(format!("{} {name}: {n:?} of {} {:?} {:?}", tools::accelerator(&target), expected[0].len(), found.as_ref().map(|f| f[0][..8.min(f[0].len())].to_vec()), &expected[0][..8.min(expected[0].len())]));
                    break;
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
