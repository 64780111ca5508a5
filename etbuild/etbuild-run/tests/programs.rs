//! Program files that ExecuTorch made, run by name and by position.

use std::path::{Path, PathBuf};

use etbuild_run::{Error, Loader, Program, View};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/et-format/tests/data").join(name)
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().unwrap().to_string()
}

fn is_send<T: Send>(_: &T) -> bool {
    true
}

#[test]
fn arrays_and_slices_go_in_and_tensors_come_out() {
    let mut program = Program::open(file("bundled.bpte")).unwrap();
    assert!(program.is_bundled() && is_send(&program));
    let facts = program.describe("forward").unwrap();
    let sizes = facts.inputs[0].as_ref().unwrap().sizes.clone();
    assert_eq!((program.method_names().unwrap(), sizes), (vec!["forward".to_owned()], vec![2, 3]));
    let mut forward = program.method("forward").unwrap();
    let x = [[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    forward.set("input_0", &x).unwrap();
    forward.run().unwrap();
    let from_array = forward.output::<f32>(0).unwrap();
    forward.set_at(0, &x[..]).unwrap();
    forward.run().unwrap();
    assert_eq!(forward.output::<f32>(0).unwrap(), from_array);
    assert_eq!(forward.fixed_output::<[[f32; 3]; 2]>(0).unwrap().as_flattened(), from_array.elements());
    let mut elements = [0.0_f32; 8];
    assert_eq!(forward.read_output(0, &mut elements).unwrap(), 6);
    assert_eq!(&elements[..6], from_array.elements());
}

#[test]
fn mistakes_of_the_caller_are_told_from_damaged_files() {
    let mut program = Program::open(file("bundled.bpte")).unwrap();
    assert_eq!(message(program.method("backward")), "no method backward; there are: forward");
    let mut forward = program.method("forward").unwrap();
    let wrong = forward.set("input_0", &[[0.0_f32; 4]; 2]).unwrap_err();
    assert!(wrong.is_argument());
    assert_eq!(wrong.to_string(), "input input_0: float32[2, 4] was given, float32[2, 3] is wanted");
    assert!(message(forward.set("y", &[0.0_f32])).starts_with("no input y; there are: input_0"));
    assert_eq!(message(forward.output::<i64>(0)), "output 0 has elements of float32, and not of int64");
    assert_eq!(message(forward.output::<f32>(7)), "no output 7; there are 1");
    assert_eq!(message(forward.fixed_output::<[f32; 6]>(0)), "output 0 has the shape [2, 3], and not [6]");
    assert!(forward.read_output(0, &mut [0.0_f32; 5]).is_err());

    let bytes = std::fs::read(file("add.pte")).unwrap();
    for end in [0, 1, 40, bytes.len() / 2] {
        let loaded = Loader::new().copy(&bytes[..end]);
        let failed = loaded.and_then(|mut program| program.method("forward").map(drop));
        assert!(!failed.unwrap_err().is_argument(), "{end}");
    }
    assert!(message(Loader::new().threads(257).copy(&bytes)).contains("from 1 to 256"));
}

#[test]
fn state_is_kept_between_calls() {
    let mut program = Program::open(file("state.pte")).unwrap();
    let facts = program.describe("forward").unwrap();
    let (name, kind) = facts.attributes[0].clone();
    let state = |program: &mut Program| program.method("forward").unwrap().state(&name).unwrap().unwrap();
    let before = state(&mut program);
    let shape: Vec<usize> = facts.inputs[0].as_ref().unwrap().sizes.iter().map(|size| *size as usize).collect();
    let ones = vec![1.0_f32; shape.iter().product()];
    let mut forward = program.method("forward").unwrap();
    forward.set_at(0, View::new(&ones, &shape).unwrap()).unwrap();
    forward.run().unwrap();
    let after = state(&mut program);
    assert!(before != after && after.scalar_type == kind.scalar_type);
    assert!(program.method("forward").unwrap().state("nothing").unwrap().is_none());
}

#[test]
fn a_data_file_has_the_weights() {
    let load = |loader: Loader| loader.open(file("external.pte")).unwrap().method("forward").map(drop);
    assert!(load(Loader::new().data(file("external.ptd"))).is_ok());
    assert!(load(Loader::new().data_bytes(&std::fs::read(file("external.ptd")).unwrap())).is_ok());
    assert_eq!(message(load(Loader::new())), "tensor factor: it is in a data file, and none was given");
}

#[cfg(feature = "build")]
#[test]
fn generated_code_has_the_kernels_and_types_of_the_program() {
    use etbuild_run::build::Generator;

    let code = |name: &str| Generator::new(name).without_file().code(&file(name));
    let external = code("external.pte").unwrap();
    for part in [
        "(\"aten::add.out\", ::etbuild_run::generated::et_ops::elementwise::add::out::<0x40>),",
        "pub fn forward(&mut self, input_0: &[[f32; 3]; 2])",
        "pub output_0: ::std::boxed::Box<[[f32; 3]; 2]>,",
    ] {
        assert!(external.contains(part), "{part} in\n{external}");
    }
    assert!(!external.contains("include_bytes"));
    assert_eq!(code("external.ptd").unwrap_err().to_string(), "the program file: the program file is malformed");
}
