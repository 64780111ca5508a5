//! The command line of a generated binary, on a program that adds two matrices.

use std::ffi::OsString;
use std::path::PathBuf;

use et_core::{Args, Kernel, Result};
use et_module::app::{AppSpec, ProgramSource, execute};
use et_module::safetensors::{SafeTensors, write};
use et_module::{Array, Error, Kernels, Module, Named, run_cases};

const ADD: &[u8] = include_bytes!("../../et-format/tests/data/add.pte");
const UNPLANNED: &[u8] = include_bytes!("../../et-format/tests/data/unplanned.pte");

fn add(args: &Args<'_, '_>) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(3)?);
    out.resize(&left.shape())?;
    let (left, right, out) = (left.input::<f32>()?, right.input::<f32>()?, out.output::<f32>()?);
    left.iter().zip(right.iter()).enumerate().for_each(|(index, (left, right))| out.set(index, left + right));
    Ok(())
}

const SPEC: AppSpec = AppSpec {
    name: "adder",
    stamp: "adder 1 (etbuild)",
    program: ProgramSource::Embedded(ADD),
    kernels: &[("aten::add.out", add as Kernel)],
    engines: &[],
    method: "forward",
    input_names: &["x", "y"],
    media: None,
};

/// Runs a command line and returns its exit code, output and messages.
fn app(arguments: &[&str]) -> (u8, String, String) {
    let (mut out, mut talk) = (Vec::new(), Vec::new());
    let code = execute(&SPEC, arguments.iter().map(OsString::from), &mut out, &mut talk);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(talk).unwrap())
}

/// A file of this test's own.
fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn save(name: &str, arrays: &[(&str, Array)]) -> PathBuf {
    let arrays: Named<Array> = arrays.iter().map(|(name, array)| ((*name).into(), array.clone())).collect();
    let mut bytes = Vec::new();
    write(&arrays, &mut bytes).unwrap();
    std::fs::write(scratch(name), bytes).unwrap();
    scratch(name)
}

fn counting(shape: &[usize]) -> Array {
    let elements: Vec<f32> = (0..shape.iter().product::<usize>()).map(|element| element as f32).collect();
    Array::floats(shape, &elements).unwrap()
}

#[test]
fn stacked_cases_are_run_one_by_one() {
    let inputs = save("cases", &[("x", counting(&[6, 3])), ("y", counting(&[2, 3])), ("unused", counting(&[1]))]);
    let outputs = scratch("outputs");
    let (code, out, talk) = app(&["--inputs", inputs.to_str().unwrap(), "--outputs", outputs.to_str().unwrap()]);
    assert_eq!((code, out.as_str(), talk.as_str()), (0, "", ""));
    let bytes = std::fs::read(&outputs).unwrap();
    let sum = &SafeTensors::parse(&bytes).unwrap().tensors["output_0"];
    let expected: Vec<f32> = (0..18).map(|element| (element + element % 6) as f32).collect();
    assert_eq!(sum, &Array::floats(&[6, 3], &expected).unwrap().view());
}

#[test]
fn what_is_wrong_with_an_input_is_said() {
    let inputs = save("wrong", &[("x", counting(&[2, 4])), ("y", counting(&[2, 3]))]);
    let line = ["--inputs", inputs.to_str().unwrap(), "--outputs", "never-written"];
    let wanted = "adder: input x: float32[2, 4] was given, float32[2, 3] is wanted\n";
    assert_eq!(app(&line), (8, String::new(), wanted.into()));
    let inputs = save("missing", &[("x", counting(&[2, 3]))]);
    let line = ["--inputs", inputs.to_str().unwrap(), "--outputs", "never-written"];
    assert_eq!(app(&line), (8, String::new(), "adder: input y: not given; given are: x\n".into()));
}

#[test]
fn a_missing_or_malformed_file_is_said() {
    let (code, _, talk) = app(&["--inputs", "/nowhere/in", "--outputs", "never-written"]);
    assert!(code == 8 && talk.starts_with("adder: /nowhere/in: "), "{talk}");
    let garbage = scratch("garbage");
    std::fs::write(&garbage, b"not tensors").unwrap();
    let (code, _, talk) = app(&["--inputs", garbage.to_str().unwrap(), "--outputs", "never-written"]);
    assert!(code == 8 && talk.contains("not a safetensors file"), "{talk}");
}

#[test]
fn a_malformed_command_line_is_code_2() {
    let (code, out, talk) = app(&["--inptus", "x"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(talk.starts_with("adder: unknown argument --inptus\n") && talk.contains("usage: adder"), "{talk}");
}

#[test]
fn version_and_help() {
    assert_eq!(app(&["--version"]), (0, "adder 1 (etbuild)\n".into(), String::new()));
    assert!(app(&["--help"]).1.contains("tensors x, y of a safetensors file"));
}

#[test]
fn a_bench_prints_one_object() {
    let (code, out, _) = app(&["--bench", "--warmup", "1", "--iters", "4"]);
    assert_eq!((code, out.lines().count()), (0, 1));
    let samples = out.split_once("\"samples_ms\": [").unwrap().1.split_once(']').unwrap().0;
    assert_eq!(samples.split(", ").count(), 4);
}

#[test]
fn unplanned_inputs_and_outputs_get_memory() {
    let mut module = Module::from_static(UNPLANNED, Kernels::Selected(&[("aten::add.out", add)])).unwrap();
    let x = counting(&[3, 2]);
    let inputs = Named::from([("input_0".into(), x.view()), ("input_1".into(), x.view())]);
    let doubled = Array::floats(&[3, 2], &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0]).unwrap();
    assert_eq!(run_cases(&mut module, &inputs).unwrap()["output_0"], doubled);
    assert!(module.input_type(0).unwrap().unwrap().dynamic);
}

#[test]
fn missing_operators_are_listed() {
    let missing = Module::from_static(ADD, Kernels::Lookup(&|_, _| None)).err().unwrap();
    assert_eq!(missing.to_string(), "no kernel for aten::add.out");
}

#[test]
fn a_program_for_which_the_binary_was_not_linked_is_refused() {
    let other = Module::from_static(ADD, Kernels::Selected(&[("aten::mul.out", add)])).err().unwrap();
    assert_eq!(other.to_string(), "linked for another program than this, which calls aten::add.out");
}

#[test]
fn a_failed_operator_is_named() {
    let mut module =
        Module::from_static(ADD, Kernels::Selected(&[("aten::add.out", |_| Err(et_core::Error::InvalidType))]))
            .unwrap();
    let failed = module.execute().unwrap_err().to_string();
    assert_eq!(failed, "instruction 0: aten::add.out: a value has the wrong type");
}

#[test]
fn a_file_that_is_no_program_is_an_error() {
    let path = scratch("no-program");
    std::fs::write(&path, b"nothing").unwrap();
    assert!(matches!(Module::open(&path, Kernels::Selected(&[])), Err(Error::Program { .. })));
}
