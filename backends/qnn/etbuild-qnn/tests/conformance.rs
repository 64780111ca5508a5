//! The conformance suite of backends, on the vendor's simulator of the NPU.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use et_module::Engine;
use et_ops::call::OwnedTensor;
use et_ops::{Case, CaseTensor, Operator};
use etbuild_backend::{Backend, NpuFacts, TargetFacts, floats_of};
use etbuild_conformance::{Candidate, check_blobs, check_defined_cases, check_refusals, compile, load, run};
use etbuild_ir::{LoweredProgram, TensorSpec, interpret};
use etbuild_partition::Place;
use etbuild_qnn::BACKEND;

static ENGINES: &[Engine] =
    &[Engine { id: et_qnn::ID, make: |host| Box::new(et_qnn::delegate(host.workers)), problem: et_qnn::problem }];

fn target() -> TargetFacts {
    let npu = Some(NpuFacts::Qualcomm { soc: "SM8750".to_owned() });
    TargetFacts { architecture: std::env::consts::ARCH.to_owned(), hosted: true, npu, ..TargetFacts::default() }
}

fn candidate(target: &TargetFacts) -> Candidate<'_> {
    // The NPU computes in fp16, whose steps are 2^-11 apart.
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads: 1, tolerance: 4e-3 }
}

/// The NPU has neither infinities nor NaN, and quantization rounds halves away from zero.
fn defines(_: &Operator, case: &Case, expected: &[CaseTensor]) -> bool {
    let finite = |element: &f64| element.abs() <= 65_504.0;
    !case.name.contains("halfway") && expected.iter().all(|tensor| tensor.elements.iter().all(finite))
}

fn accepted_cases_compute_the_expected_outputs() {
    let tally = check_defined_cases(&candidate(&target()), &defines)
        .unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    assert!(tally.taken > 45, "{tally:?}");
}

fn answers_are_deterministic_and_have_reasons() {
    check_refusals(&candidate(&target())).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
}

fn damaged_blobs_are_errors() {
    check_blobs(&candidate(&target()), 8).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
}

/// Programs with quantized results, the distance of neighbours in the results, and the number of results that differ from the simulation.
const QUANTIZED: [(&str, f32, usize); 4] = [
    ("integer_convolution", 0.25, 0),
    ("integer_block", 0.0625, 40),
    ("grouped_int4_linear", 0.01, 3),
    ("integer_elementwise", 0.0625, 0),
];

/// The integers of the NPU are those of the simulation, and a step from those of the portable kernels, which round otherwise.
fn quantized_results_are_those_of_the_simulation() {
    let (target, folder) = (target(), Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"));
    let candidate = candidate(&target);
    for (name, step, most_differing) in QUANTIZED {
        let text = fs::read_to_string(folder.join(name).with_extension("ir")).unwrap();
        let text = &text[text.find("etbuild-ir").unwrap()..text.find("---").unwrap()];
        let program = LoweredProgram::verify(etbuild_golden::parse(text).unwrap()).unwrap();
        let graph = program.program().methods["forward"].clone();
        let input = random(graph.spec(graph.inputs[0]));
        let named = BTreeMap::from([(graph.value(graph.inputs[0]).name.clone(), input.clone())]);
        let portable = floats_of(&interpret(&graph, &named).unwrap()[0].bytes);
        let simulated = floats_of(&(BACKEND.simulation().unwrap().outputs)(&graph, &named).unwrap()[0].bytes);
        let compiled = compile(program, &candidate).unwrap();
        let calls = compiled.partitioned.report.iter().filter(|node| matches!(node.place, Place::Backend(..)));
        assert_eq!(calls.count(), graph.nodes.len(), "{name}: a node does not run on the NPU");
        let got = run(&mut load(&compiled.file, &candidate).unwrap(), &[input.bytes]).unwrap().remove(0).bytes;
        let got = floats_of(&got);
        let steps = |other: &[f32]| -> Vec<f32> {
            got.iter().zip(other).map(|(got, other)| ((got - other) / step).abs().round()).collect()
        };
        let differing: Vec<f32> = steps(&simulated).into_iter().filter(|steps| *steps > 0.0).collect();
        assert!(differing.len() <= most_differing, "{name}: {} of {} differ", differing.len(), got.len());
        assert!(differing.iter().all(|steps| *steps <= 1.0), "{name}: {differing:?} steps");
        let worst = steps(&portable).into_iter().fold(0.0, f32::max);
        assert!(worst <= 1.0 || name == "integer_block", "{name}: {worst} steps");
    }
}

/// Two methods with the same weights.
const METHODS: &str = "etbuild-ir 1 lowered
method one
  input %x: float32[1, 256]
  constant %weight: float32[256, 256] = \"weight\" ramp(-1.0, 1.0)
  %y: float32[1, 256] = aten.linear.default(%x, %weight, none)
  return %y
method several
  input %x: float32[8, 256]
  constant %weight: float32[256, 256] = \"weight\" ramp(-1.0, 1.0)
  %y: float32[8, 256] = aten.linear.default(%x, %weight, none)
  return %y
";

/// The context binary for a device stores the weights of several methods once. The simulator cannot load such a context, and says so.
fn methods_share_weights_on_a_device() {
    let program = || LoweredProgram::verify(etbuild_golden::parse(METHODS).unwrap()).unwrap();
    let simulated = target();
    let device = TargetFacts { architecture: "aarch64".to_owned(), ..target() };
    let size = |target: &TargetFacts| compile(program(), &candidate(target)).unwrap().file.len();
    let weights = 256 * 256 * 2;
    assert!(size(&simulated) > 2 * weights, "{}", size(&simulated));
    assert!(size(&device) < 2 * weights, "{}", size(&device));

    let one = METHODS.split("method several").next().unwrap().replace("method one", "method forward");
    let program = LoweredProgram::verify(etbuild_golden::parse(&one).unwrap()).unwrap();
    let file = compile(program, &candidate(&device)).unwrap().file;
    assert!(load(&file, &candidate(&device)).is_err());
    assert!(et_qnn::problem().unwrap().contains("simulator cannot load"), "{:?}", et_qnn::problem());
}

/// Numbers from -8 to 8.
fn random(spec: &TensorSpec) -> OwnedTensor {
    let mut state = 1_u32;
    let numbers = (0..spec.numel()).flat_map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / 1_048_576.0 - 8.0).to_le_bytes()
    });
    OwnedTensor { scalar_type: spec.scalar_type, sizes: spec.sizes.clone(), bytes: numbers.collect() }
}

/// The checks, in order: the compiler of the vendor starts this program again.
fn main() -> ExitCode {
    if let Some(code) = etbuild_qnn::worker() {
        return code;
    }
    let checks: [(&str, fn()); 5] = [
        ("methods_share_weights_on_a_device", methods_share_weights_on_a_device),
        ("quantized_results_are_those_of_the_simulation", quantized_results_are_those_of_the_simulation),
        ("accepted_cases_compute_the_expected_outputs", accepted_cases_compute_the_expected_outputs),
        ("answers_are_deterministic_and_have_reasons", answers_are_deterministic_and_have_reasons),
        ("damaged_blobs_are_errors", damaged_blobs_are_errors),
    ];
    for (name, check) in checks {
        check();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}
