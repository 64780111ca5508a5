//! ExecuTorch's runtime loads an emitted program and computes the outputs of PyTorch. Runs where
//! `ETBUILD_TEST_PYTHON` names a Python with ExecuTorch.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::fs;
use std::path::Path;
use std::process::Command;

use etbuild_emit::{EmitOptions, emit};
use etbuild_ir::ConstantData;
use etbuild_ir::text::parse_plan;

const RUNNER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../etbuild/tests/upstream.py");

/// A convolution with a kernel that has only a center, `relu`, a view, and a sum.
const PROGRAM: &str = "etbuild-ir 1 planned
method forward
  input %x: float32[1, 1, 3, 3]
  constant %w: float32[2, 1, 3, 3] = \"conv.weight\" b3:WEIGHT
  constant %b: float32[2] = \"conv.bias\" b3:BIAS
  %y: float32[1, 2, 3, 3] = aten.convolution.default(%x, %w, %b, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
  %z: float32[1, 2, 3, 3] = aten.relu.default(%y)
  %flat: float32[1, 18] = aten.view_copy.default(%z, [1, 18])
  %out: float32[1, 18] = aten.add.Tensor(%flat, %flat, 2)
  return %out
plan forward
  arena ram 160 16
  place %x 1 80
  place %y 1 0
  place %z 1 80
  place %flat 1 80
  place %out 1 0
";

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A safetensors file with a single `float32` tensor.
fn safetensors(name: &str, sizes: &[usize], numbers: &[f32]) -> Vec<u8> {
    let end = 4 * numbers.len();
    let header = format!(r#"{{"{name}":{{"dtype":"F32","shape":{sizes:?},"data_offsets":[0,{end}]}}}}"#);
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes(numbers)].concat()
}

/// The elements of the only tensor of a safetensors file.
fn only_tensor(file: &[u8]) -> Vec<f32> {
    let header = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    file[8 + header..].chunks_exact(4).map(|item| f32::from_le_bytes(item.try_into().unwrap())).collect()
}

/// The program file of `PROGRAM` with the filters `[w -> 1 * w]` and `[w -> -2 * w]` and the biases 0.5 and 1.
fn program_file() -> Vec<u8> {
    let mut filters = [0.0; 18];
    (filters[4], filters[13]) = (1.0, -2.0);
    let constants = [ConstantData::new(bytes(&filters)), ConstantData::new(bytes(&[0.5, 1.0]))];
    let text = PROGRAM.replace("WEIGHT", &constants[0].digest().to_string());
    let text = text.replace("BIAS", &constants[1].digest().to_string());
    let find = |digest| constants.iter().find(|constant| constant.digest() == digest).cloned();
    let planned = parse_plan(&text, &mut { find }).unwrap();
    let mut file = Vec::new();
    emit(&planned, &EmitOptions { producer: "etbuild".to_owned(), ..EmitOptions::default() }, &mut file).unwrap();
    file
}

#[test]
fn upstream_computes_an_emitted_program() {
    let Some(python) = std::env::var_os("ETBUILD_TEST_PYTHON") else {
        let skips = std::env::var_os("ETBUILD_SKIP_PYTHON").is_some_and(|value| value == "1");
        assert!(
            skips,
            "set ETBUILD_TEST_PYTHON to a Python with ExecuTorch, or ETBUILD_SKIP_PYTHON=1 to skip the test"
        );
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [program, inputs, outputs] = ["emitted.pte", "x.safetensors", "y.safetensors"].map(|name| folder.join(name));
    let numbers = [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0];
    fs::write(&program, program_file()).unwrap();
    fs::write(&inputs, safetensors("x", &[1, 1, 3, 3], &numbers)).unwrap();
    let run = Command::new(python).arg(RUNNER).args([&program, &inputs, &outputs]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let rectified = numbers.map(|x| (x + 0.5).max(0.0)).into_iter().chain(numbers.map(|x| (1.0 - 2.0 * x).max(0.0)));
    assert_eq!(only_tensor(&fs::read(outputs).unwrap()), rectified.map(|y| 3.0 * y).collect::<Vec<_>>());
}
