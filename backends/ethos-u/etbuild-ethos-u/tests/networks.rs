//! The four networks of MLPerf Tiny, quantized by etbuild: the interpreter and Vela's command streams against Arm's reference model, bit for bit,
//! and the interpreter against the portable kernels. `examples/tinyml/export.py` writes the networks with the Python of `ETBUILD_TEST_PYTHON`, unless they are there.
#![allow(clippy::disallowed_methods, reason = "tests read files and run programs")]

mod tools;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_backend::{Backend, Blob, Refusal, TargetFacts};
use etbuild_ethos_u::{Array, BACKEND, Kind, Lowered, lower_to_tosa};
use etbuild_ir::{Graph, Links, LoweredProgram, Node};
use etbuild_quantize::{Data, InMemory, Options, Scheme};
use safetensors::SafeTensors;

const NETWORKS: [&str; 4] = ["keyword-spotting", "visual-wake-words", "image-classification", "anomaly-detection"];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/tinyml").join(name)
}

/// Writes the networks unless they are there.
fn export() {
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock();
    if NETWORKS.iter().all(|name| file(&format!("out/{name}-test.safetensors")).exists()) {
        return;
    }
    let python = std::env::var_os("ETBUILD_TEST_PYTHON").expect("set ETBUILD_TEST_PYTHON to a Python with torch");
    assert!(Command::new(python).arg(file("export.py")).status().unwrap().success());
}

fn quantized(name: &str) -> LoweredProgram {
    let archive = std::fs::read(file(&format!("out/{name}.pt2"))).unwrap();
    let program = etbuild_import::import_pt2(Arc::new(archive)).unwrap();
    let program = etbuild_pass::lower(program, etbuild_pass::Runtime::Etbuild).unwrap();
    let bytes = std::fs::read(file(&format!("out/{name}-calibration.safetensors"))).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let samples = tensors.iter().map(|(name, view)| {
        let sizes = view.shape().iter().map(|size| *size as i32).collect();
        (name.to_owned(), OwnedTensor { scalar_type: ScalarType::Float, sizes, bytes: view.data().to_vec() })
    });
    let samples = samples.collect();
    etbuild_quantize::quantize(program, &Options::new(Scheme::W8A8), Data::samples(Some(&samples)), &InMemory).unwrap()
}

/// The backend, which keeps the partitions instead of compiling them.
#[derive(Default)]
struct Keeping(Mutex<Vec<Graph>>);

impl Backend for Keeping {
    fn name(&self) -> &'static str {
        "ethos"
    }
    fn delegate_id(&self) -> &'static str {
        BACKEND.delegate_id()
    }
    fn device_crate(&self) -> &'static str {
        BACKEND.device_crate()
    }
    fn revision(&self) -> &'static str {
        BACKEND.revision()
    }
    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        BACKEND.facts(target)
    }
    fn runs_on(&self, target: &TargetFacts) -> bool {
        BACKEND.runs_on(target)
    }
    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        BACKEND.refusal(links, node, target)
    }
    fn lower(&self, graph: &Graph, _target: &TargetFacts) -> Result<Blob, Refusal> {
        self.0.lock().unwrap().push(graph.clone());
        Ok(Blob { bytes: vec![0], ..Blob::default() })
    }
}

/// The one partition of a network for an NPU: only the quantization of the input and the dequantization of the output stay with the processor.
fn partition(program: LoweredProgram, target: &TargetFacts) -> Graph {
    let keeping = Keeping::default();
    let parted = etbuild_partition::partition(program, &[&keeping], target, &etbuild_partition::InMemory).unwrap();
    let rest = parted.report.iter().filter(|node| !node.refusals.is_empty()).count();
    let mut graphs = keeping.0.into_inner().unwrap();
    assert_eq!((graphs.len(), rest), (1, 2), "{}", tools::accelerator(target));
    graphs.remove(0)
}

#[test]
fn networks_equal_the_reference_model_and_are_near_the_simulation() {
    let Some(folder) = tools::folder() else { return };
    export();
    let target = tools::target("u85-256", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only");
    for name in NETWORKS {
        let graph = partition(quantized(name), &target);
        let Lowered { graph: tosa, .. } = lower_to_tosa(&graph).unwrap();
        let inputs = tools::inputs(&tosa, 1);
        let found = tosa.evaluate(&inputs).unwrap();
        assert_eq!(found, tools::reference(&folder, &tosa, &inputs), "{name}");
        let value = graph.value(graph.inputs[0]);
        let sizes = value.spec.sizes.clone();
        let tensor = OwnedTensor { scalar_type: ScalarType::Char, sizes, bytes: inputs[0].bytes() };
        let named = BTreeMap::from([(value.name.clone(), tensor)]);
        let expected = etbuild_ir::interpret(&graph, &named).unwrap();
        let expected = Array::of_bytes(Kind::Int8, &found[0].sizes, &expected[0].bytes).unwrap();
        let distances = found[0].numbers.iter().zip(&expected.numbers).map(|(left, right)| (left - right).abs());
        let most = distances.max().unwrap();
        // Each layer rounds by itself, and adds to the steps.
        assert!(most <= 2, "{name}: {most} steps");
    }
}

#[test]
fn command_streams_of_networks_equal_the_reference_model() {
    let Some(folder) = tools::folder() else { return };
    export();
    for name in NETWORKS {
        let program = quantized(name);
        for target in tools::targets() {
            let npu = tools::accelerator(&target);
            let graph = partition(program.clone(), &target);
            let Lowered { graph: tosa, outputs } = lower_to_tosa(&graph).unwrap();
            let inputs = tools::inputs(&tosa, 1);
            let expected = tools::reference(&folder, &tosa, &inputs);
            let expected: Vec<_> = outputs.iter().map(|output| expected[output.position].bytes()).collect();
            let blob = BACKEND.lower(&graph, &target).unwrap();
            assert_eq!(tools::execute(&blob.bytes, &inputs), Ok(expected), "{name} on {npu}");
        }
    }
}
