//! What a module is loaded from besides a program: data files and bundled programs; and what it gives back.

use std::path::{Path, PathBuf};

use et_core::{Args, Kernel, Result};
use et_format::write::*;
use et_module::safetensors::{SafeTensors, write_with_texts};
use et_module::{
    Array, Constant, DataFiles, Engines, Error, FileBytes, Kernels, Module, Named, Tolerance, run_bundled,
};

const EXTERNAL: &[u8] = include_bytes!("../../et-format/tests/data/external.pte");
const BUNDLE: &[u8] = include_bytes!("../../et-format/tests/data/bundled.bpte");

/// `x + y` and `x * y` with broadcasting of whole rows.
fn zip(args: &Args<'_, '_>, out: usize, function: fn(f32, f32) -> f32) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(out)?);
    out.resize(&left.shape())?;
    let (left, right, out) = (left.input::<f32>()?, right.input::<f32>()?, out.output::<f32>()?);
    left.iter().enumerate().for_each(|(index, value)| out.set(index, function(value, right.get(index % right.len()))));
    Ok(())
}

fn kernel(name: &str, _: &str) -> Option<Kernel> {
    match name {
        "aten::add" => Some(|args| zip(args, 3, |left, right| left + right)),
        "aten::mul" => Some(|args| zip(args, 2, |left, right| left * right)),
        _ => None,
    }
}

fn load(file: &[u8], data: DataFiles, method: &str) -> std::result::Result<Module, Error> {
    Module::load_method(FileBytes::owned(file.to_vec()), data, method, Kernels::Lookup(&kernel), &Engines::none())
}

fn upstreams(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../et-format/tests/data").join(name)
}

fn message<T>(result: std::result::Result<T, Error>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn a_program_runs_on_the_weights_of_a_data_file() {
    let data = DataFiles::open(&[upstreams("external.ptd")]).unwrap();
    let mut module = load(EXTERNAL, data, "forward").unwrap();
    let x = Array::floats(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    module.set_input(0, &x.view()).unwrap();
    module.execute().unwrap();
    assert_eq!(module.output(0).unwrap().to_floats().unwrap(), [1.0, 2.25, 11.0, 2.5, 3.0, 23.0]);
}

#[test]
fn a_tensor_that_is_not_in_the_data_files_is_named() {
    let none = message(load(EXTERNAL, DataFiles::default(), "forward"));
    assert_eq!(none, "tensor factor: it is in a data file, and none was given");
    let mut other = Vec::new();
    let layout = DataLayout { scalar_type: et_core::ScalarType::Int, sizes: vec![3], dim_order: vec![0] };
    let entry = DataEntry { key: "factor".into(), data: &[0; 12], layout: Some(layout) };
    write_data(&[entry], &mut other).unwrap();
    let other = message(load(EXTERNAL, DataFiles::of(vec![FileBytes::owned(other)]), "forward"));
    assert_eq!(other, "tensor factor: the data file has int32[3], the program wants float32[3]");
}

#[test]
fn data_files_must_be_data_files_and_differ() {
    let twice = message(DataFiles::open(&[upstreams("external.ptd"), upstreams("external.ptd")]));
    assert!(twice.contains("factor is in"), "{twice}");
    assert!(matches!(DataFiles::open(&[upstreams("add.pte")]), Err(Error::DataFile { .. })));
    assert!(matches!(DataFiles::open(&[upstreams("none.ptd")]), Err(Error::File { .. })));
}

#[test]
fn a_method_that_is_not_there_is_an_error_with_those_that_are() {
    assert_eq!(message(load(BUNDLE, DataFiles::default(), "backward")), "no method backward; there are: forward");
}

#[test]
fn bundled_cases_are_run_and_compared() {
    let mut module = load(BUNDLE, DataFiles::default(), "forward").unwrap();
    let results = run_bundled(&mut module, BUNDLE, "forward", Tolerance::default()).unwrap();
    assert_eq!(results.iter().map(|result| result.differences.len()).collect::<Vec<_>>(), [0, 0]);
    assert!(run_bundled(&mut module, BUNDLE, "other", Tolerance::default()).unwrap().is_empty());
}

#[test]
fn a_wrong_expected_output_is_a_difference() {
    let mut bundle = BUNDLE.to_vec();
    let largest = 30_f32.to_le_bytes(); // Twice the last element of the second case.
    let place = bundle.windows(4).position(|bytes| bytes == largest).unwrap() + 3;
    bundle[place] ^= 0x80;
    let mut module = load(&bundle, DataFiles::default(), "forward").unwrap();
    let results = run_bundled(&mut module, &bundle, "forward", Tolerance::default()).unwrap();
    let differences: Vec<&String> = results.iter().flat_map(|result| &result.differences).collect();
    assert_eq!(differences.len(), 1);
    assert!(differences[0].starts_with("output_0: 1 of 6 elements are too far off"), "{}", differences[0]);
}

#[test]
fn a_number_must_be_the_one_that_the_program_was_made_for() {
    let mut module = load(BUNDLE, DataFiles::default(), "forward").unwrap().with_input_names(&["x", "n", "flag", "f"]);
    let given = [("n", Constant::Int(2)), ("flag", Constant::Bool(true)), ("f", Constant::Double(0.5))];
    let given: Named<Constant> = given.into_iter().map(|(name, given)| (name.to_owned(), given)).collect();
    module.set_constants(&given).unwrap();
    let other = message(module.set_constant(1, &Constant::Int(3)));
    assert_eq!(other, "input n: 3 was given, the program was made for 2");
    assert_eq!(message(module.set_constant(0, &Constant::None)), "input x: None was given, a tensor is wanted");
}

#[test]
fn outputs_of_every_kind_are_given_out() {
    let plan = ExecutionPlan {
        name: "constants".into(),
        values: vec![
            EValue::Int(7),
            EValue::Int(-9),
            EValue::IntList(vec![0, 1]),
            EValue::DoubleList(vec![0.5]),
            EValue::BoolList(vec![true, false]),
            EValue::String("text".into()),
            EValue::Null,
            EValue::Tensor(Tensor {
                scalar_type: et_core::ScalarType::Byte,
                sizes: vec![2],
                dim_order: vec![0],
                data_buffer: 1,
                allocation: None,
                dynamic: false,
                extra: None,
            }),
            EValue::OptionalTensorList(vec![7, -1, 7]),
        ],
        outputs: vec![2, 3, 4, 5, 6, 8, 0],
        chains: vec![Chain { instructions: vec![] }],
        ..ExecutionPlan::default()
    };
    let mut file = Vec::new();
    let program = Program { execution_plans: vec![plan], constants: vec![&[3, 4]], ..Program::default() };
    write_program(&program, &mut file).unwrap();
    let mut module = load(&file, DataFiles::default(), "constants").unwrap();
    module.execute().unwrap();
    let outputs = module.outputs().unwrap();
    let bytes = |index: usize| outputs.arrays.get(&format!("output_{index}")).map(|array| array.bytes.clone());
    assert_eq!(bytes(0), Some([7_i64.to_le_bytes(), (-9_i64).to_le_bytes()].concat()));
    assert_eq!(bytes(1), Some(0.5_f64.to_le_bytes().to_vec()));
    assert_eq!(bytes(2), Some(vec![1, 0]));
    assert_eq!(outputs.texts, Named::from([("output_3".to_owned(), "text".to_owned())]));
    assert_eq!([bytes(4), bytes(5), bytes(6)], [None, Some(vec![3, 4]), None]);
    assert_eq!([bytes(7), bytes(8)], [Some(vec![3, 4]), Some(7_i64.to_le_bytes().to_vec())]);
    assert_eq!(module.with_last_outputs(1).outputs().unwrap().arrays.len(), 1);

    let mut written = Vec::new();
    write_with_texts(&outputs.arrays, &outputs.texts, &mut written).unwrap();
    assert_eq!(SafeTensors::parse(&written).unwrap().metadata, outputs.texts);
}
