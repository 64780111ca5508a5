//! The conformance suite of backends, on the vendor's simulator of the NPU.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use et_core::{Half, ScalarType};
use et_module::Engine;
use et_ops::call::OwnedTensor;
use et_ops::{Case, CaseTensor, Operator};
use etbuild_backend::{Backend, NpuFacts, TargetFacts};
use etbuild_conformance::{Candidate, check_blobs, check_defined_cases, check_refusals, compile, load, run};
use etbuild_ir::{LoweredProgram, TensorSpec, interpret};
use etbuild_partition::Place;
use etbuild_qnn::{BACKEND, SIMULATED, SIMULATION_ID, delegate};
use etbuild_weights::reals::floats;

static ENGINES: &[Engine] = &[
    Engine { id: et_qnn::ID, make: |host| Box::new(et_qnn::delegate(host.workers)), problem: et_qnn::problem },
    Engine { id: SIMULATION_ID, make: |host| Box::new(delegate(host.workers)), problem: et_qnn::problem },
];

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

/// A program with quantized results.
struct Quantized {
    name: &'static str,
    /// The distance of neighbours in the results.
    step: f32,
    /// The number of results that differ from the simulation.
    differing: usize,
    /// By how many steps they differ at most.
    steps: f32,
}

const QUANTIZED: [Quantized; 8] = [
    Quantized { name: "integer_convolution", step: 0.25, differing: 0, steps: 0.0 },
    Quantized { name: "integer_block", step: 0.0625, differing: 40, steps: 1.0 },
    Quantized { name: "grouped_int4_linear", step: 0.01, differing: 0, steps: 0.0 },
    Quantized { name: "integer_elementwise", step: 0.0625, differing: 0, steps: 0.0 },
    Quantized { name: "integer_clamps", step: 0.25, differing: 0, steps: 0.0 },
    Quantized { name: "integer_feed_forward", step: 0.0625, differing: 0, steps: 0.0 },
    // Sigmoid differs by up to 4 of 65,536 steps.
    Quantized { name: "word_feed_forward", step: 0.002, differing: 16, steps: 4.0 },
    Quantized { name: "word_gates", step: 0.00075, differing: 308, steps: 4.0 },
];

/// Programs of one or two operators, whose results are a step from those of the portable kernels.
const SINGLE: [&str; 3] = ["integer_convolution", "grouped_int4_linear", "integer_elementwise"];

/// Programs in fp16 that the library computes as the portable kernels do only by way of other operations.
const FLOAT: [&str; 3] = ["unequal_strides", "dilated_channels", "packed_projection"];

/// Nodes that the library computes to other numbers, with the sizes of input and output: they stay with the next backend.
const REFUSED: [(&str, &str, &str); 6] = [
    (
        "[1, 8, 9, 9]",
        "[1, 8, 11, 11]",
        "aten.convolution.default(%x, %w, none, [1, 1], [2, 1], [1, 1], false, [0, 0], 1)",
    ),
    ("[1, 3, 9, 9]", "[1, 3, 11, 10]", "aten.constant_pad_nd.default(%x, [0, 1, 1, 1], 0.0)"),
    ("[1, 1, 9, 9]", "[1, 1, 9, 9]", "aten.avg_pool2d.default(%x, [3, 3], [1, 1], [1, 1], false, true, none)"),
    ("[1, 8, 9, 9]", "[1, 8, 8, 7]", "aten.avg_pool2d.default(%x, [2, 3], [1, 1], [0, 0], false, true, none)"),
    ("[1, 8, 9, 9]", "[1, 8, 10, 10]", "aten.avg_pool2d.default(%x, [2, 2], [1, 1], [1, 1], false, true, none)"),
    ("[1, 3, 9, 9]", "[1, 3, 5, 5]", "aten.avg_pool2d.default(%x, [2, 2], [2, 2], [0, 0], true, true, none)"),
];

/// The program of a golden file.
fn program(name: &str) -> LoweredProgram {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let text = fs::read_to_string(folder.join(name).with_extension("ir")).unwrap();
    let text = &text[text.find("etbuild-ir").unwrap()..text.find("---").unwrap()];
    LoweredProgram::verify(etbuild_golden::parse(text).unwrap()).unwrap()
}

/// The simulation as a delegate writes the KV cache, and attends to it, as the NPU does: in fp16, apart from the reciprocal of softmax.
fn delegate_calls_compute_what_the_npu_computes() {
    let target = target();
    for name in ["float_attention", "cached_attention", "integer_cache"] {
        let graph = program(name).program().methods["forward"].clone();
        let inputs: Vec<Vec<u8>> = graph.inputs.iter().map(|id| argument(graph.spec(*id))).collect();
        let [npu, simulated] = [&BACKEND as &dyn Backend, &SIMULATED].map(|backend| {
            let candidate = Candidate { backend, ..candidate(&target) };
            let compiled = compile(program(name), &candidate).unwrap();
            floats(&run(&mut load(&compiled.file, &candidate).unwrap(), &inputs).unwrap()[0].bytes)
        });
        let most = npu.iter().copied().map(f32::abs).fold(0.0, f32::max);
        let worst = npu.iter().zip(&simulated).map(|(npu, simulated)| (npu - simulated).abs()).fold(0.0, f32::max);
        assert!(worst <= 4e-3 * most && most > 0.0, "{name}: {worst} of {most}");
    }
}

/// Numbers for an input: a position, or a row, or numbers for a KV cache.
fn argument(spec: &TensorSpec) -> Vec<u8> {
    let numbers = floats(&random(spec).bytes);
    match spec.scalar_type {
        ScalarType::Long => 1_i64.to_le_bytes().to_vec(),
        ScalarType::Half => numbers.into_iter().flat_map(|number| Half::from_f32(number).0.to_le_bytes()).collect(),
        ScalarType::Char => numbers.into_iter().map(|number| (number * 8.0) as i8 as u8).collect(),
        _ => numbers.into_iter().flat_map(f32::to_le_bytes).collect(),
    }
}

/// The integers of the NPU are those of the simulation, and a step from those of the portable kernels, which round otherwise.
fn quantized_results_are_those_of_the_simulation() {
    let target = target();
    let candidate = candidate(&target);
    for Quantized { name, step, differing: most, steps: largest } in QUANTIZED {
        let program = program(name);
        let graph = program.program().methods["forward"].clone();
        let input = random(graph.spec(graph.inputs[0]));
        let named = BTreeMap::from([(graph.value(graph.inputs[0]).name.clone(), input.clone())]);
        let portable = floats(&interpret(&graph, &named).unwrap()[0].bytes);
        let simulated = floats(&(BACKEND.simulation().unwrap().outputs)(&graph, &named).unwrap()[0].bytes);
        let compiled = compile(program, &candidate).unwrap();
        let calls = compiled.partitioned.report.iter().filter(|node| matches!(node.place, Place::Backend(..)));
        assert_eq!(calls.count(), graph.nodes.len(), "{name}: a node does not run on the NPU");
        let got = run(&mut load(&compiled.file, &candidate).unwrap(), &[input.bytes]).unwrap().remove(0).bytes;
        let got = floats(&got);
        let steps = |other: &[f32]| -> Vec<f32> {
            got.iter().zip(other).map(|(got, other)| ((got - other) / step).abs().round()).collect()
        };
        let differing: Vec<f32> = steps(&simulated).into_iter().filter(|steps| *steps > 0.0).collect();
        assert!(differing.len() <= most, "{name}: {} of {} differ", differing.len(), got.len());
        assert!(differing.iter().all(|steps| *steps <= largest), "{name}: {differing:?} steps");
        let worst = steps(&portable).into_iter().fold(0.0, f32::max);
        assert!(worst <= 1.0 || !SINGLE.contains(&name), "{name}: {worst} steps");
    }
}

/// The largest difference of a program's results from those of the portable kernels, over the largest result.
fn distance(program: LoweredProgram, target: &TargetFacts) -> f32 {
    let graph = program.program().methods["forward"].clone();
    let input = random(graph.spec(graph.inputs[0]));
    let named = BTreeMap::from([(graph.value(graph.inputs[0]).name.clone(), input.clone())]);
    let wanted = floats(&interpret(&graph, &named).unwrap()[0].bytes);
    let compiled = compile(program, &candidate(target)).unwrap();
    assert!(compiled.partitioned.report.iter().all(|node| matches!(node.place, Place::Backend(..))));
    let got = run(&mut load(&compiled.file, &candidate(target)).unwrap(), &[input.bytes]).unwrap().remove(0).bytes;
    let most = wanted.iter().copied().map(f32::abs).fold(0.0, f32::max);
    floats(&got).iter().zip(&wanted).map(|(got, wanted)| (got - wanted).abs()).fold(0.0, f32::max) / most
}

fn float_results_are_those_of_the_portable_kernels() {
    for name in FLOAT {
        let distance = distance(program(name), &target());
        assert!(distance <= 4e-3, "{name}: {distance}");
    }
}

fn what_the_library_computes_otherwise_is_refused() {
    for (from, to, node) in REFUSED {
        let weight =
            if node.contains("%w") { "  constant %w: float32[8, 8, 3, 1] = \"w\" ramp(-0.5, 0.5)\n" } else { "" };
        let text = format!(
            "etbuild-ir 1 lowered\nmethod forward\n  input %x: float32{from}\n{weight}  %y: float32{to} = {node}\n  return %y\n"
        );
        let program = LoweredProgram::verify(etbuild_golden::parse(&text).unwrap()).unwrap();
        let compiled = compile(program, &candidate(&target())).unwrap();
        let place = &compiled.partitioned.report.first().unwrap().place;
        assert!(!matches!(place, Place::Backend(..)), "{node}");
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
    let checks: [(&str, fn()); 8] = [
        ("methods_share_weights_on_a_device", methods_share_weights_on_a_device),
        ("quantized_results_are_those_of_the_simulation", quantized_results_are_those_of_the_simulation),
        ("float_results_are_those_of_the_portable_kernels", float_results_are_those_of_the_portable_kernels),
        ("what_the_library_computes_otherwise_is_refused", what_the_library_computes_otherwise_is_refused),
        ("delegate_calls_compute_what_the_npu_computes", delegate_calls_compute_what_the_npu_computes),
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
