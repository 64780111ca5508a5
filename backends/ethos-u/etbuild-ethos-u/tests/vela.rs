//! Vela on the programs of the golden tests: blobs for Ethos-U55 and Ethos-U85 that the device half reads.

mod tools;

use et_ethos_u::{Blob, driver};
use etbuild_backend::{Backend, TargetFacts};
use etbuild_ethos_u::BACKEND;
use tools::target;

/// The targets, with the product and the logarithm of multiplications per cycle of the NPU's register.
fn targets() -> [(TargetFacts, u32); 2] {
    [
        (target("u55-128", "Ethos_U55_High_End_Embedded", "Shared_Sram"), 0x0000_0007),
        (target("u85-256", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"), 0x2000_0008),
    ]
}

#[test]
fn every_program_becomes_a_blob_and_the_same_program_the_same_bytes() {
    let Some(_) = tools::folder() else { return };
    for (target, config) in targets() {
        for (name, graph) in tools::programs() {
            let lowered = BACKEND.lower(&graph, &target).unwrap_or_else(|why| panic!("{name}: {why}"));
            if name == "residual" {
                assert!(lowered == BACKEND.lower(&graph, &target).unwrap(), "{name}");
            }
            let blob = Blob::read(&lowered.bytes).unwrap();
            assert!(driver::is_for(blob.header().config, config), "{name}: {:#x}", blob.header().config);
            assert_eq!(blob.inputs().count(), graph.inputs.len(), "{name}");
            assert_eq!(blob.outputs().count(), graph.outputs.len(), "{name}");
            assert!(blob.header().cycles > 0, "{name}");
        }
    }
}

#[test]
fn every_node_is_accepted() {
    for (target, _) in targets() {
        for (name, graph) in tools::programs() {
            let links = etbuild_ir::Links::of(&graph);
            for node in &graph.nodes {
                assert_eq!(BACKEND.refusal(&links, node, &target), None, "{name}: {}", node.operator);
            }
        }
    }
}

/// A function whose result is quantized, and read as float32 too.
const TWO_READERS: &str = "etbuild-ir 1 lowered
method forward
  input %x: int8[4]
  %d: float32[4] = quantized_decomposed.dequantize_per_tensor.default(%x, 0.1, 0, -128, 127, int8, none)
  %t: float32[4] = aten.tanh.default(%d)
  %q: int8[4] = quantized_decomposed.quantize_per_tensor.default(%t, 0.0078125, 0, -128, 127, int8)
  return %q, %t
";

#[test]
fn a_function_with_another_reader_stays_whole() {
    let program = etbuild_golden::parse(TWO_READERS).unwrap();
    let graph = &program.methods["forward"];
    let links = etbuild_ir::Links::of(graph);
    let refusals = graph.nodes.iter().filter_map(|node| BACKEND.refusal(&links, node, &targets()[0].0));
    assert_eq!(refusals.count(), graph.nodes.len());
}

#[test]
fn a_damaged_blob_is_an_error_and_never_a_panic() {
    let Some(_) = tools::folder() else { return };
    let (_, graph) = tools::programs().swap_remove(0);
    let blob = BACKEND.lower(&graph, &targets()[0].0).unwrap().bytes;
    for length in 0..blob.len() {
        assert!(Blob::read(&blob[..length]).is_err(), "{length}");
    }
    for place in 0..64.min(blob.len()) {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut damaged = blob.clone();
            damaged[place] = value;
            if let Ok(read) = Blob::read(&damaged) {
                let end = |port: et_ethos_u::Port| u64::from(port.offset) + u64::from(port.count);
                let inside =
                    read.inputs().chain(read.outputs()).map(end).all(|end| end <= u64::from(read.header().scratch));
                assert!(inside, "{place}");
            }
        }
    }
}
