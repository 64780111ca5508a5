//! Where a program's constants may be: in a data file, or, in old files, in the flatbuffer.

mod support;

use et_core::{Error, ScalarType};
use et_format::DataFile;
use et_format::write::*;
use et_runtime::{Failure, Place};
use support::{bytes, output, with_method_and_data};

const EXTERNAL: &[u8] = include_bytes!("../../et-format/tests/data/external.pte");
const DATA: &[u8] = include_bytes!("../../et-format/tests/data/external.ptd");
const OLD: &[u8] = include_bytes!("../../et-format/tests/data/old.pte");

/// Upstream's program: `x * [0.5, 0.25, 4] + [[1, 2, 3]]`.
const EXPECTED: [f32; 6] = [1.0, 2.25, 11.0, 2.5, 3.0, 23.0];

fn run(file: &[u8], data: &[DataFile<'_>]) -> Result<(), Failure> {
    with_method_and_data(file, data, &[], |method| {
        method.copy_input(0, &bytes(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))?;
        method.execute()?;
        assert_eq!(output(method, 0), EXPECTED);
        Ok(())
    })
}

/// A data file with these tensors of 32-bit floating-point numbers.
fn data_file(tensors: &[(&str, &[i32], &[f32])]) -> Vec<u8> {
    let data: Vec<Vec<u8>> = tensors.iter().map(|(_, _, numbers)| bytes(numbers)).collect();
    let entries = tensors.iter().zip(&data).map(|((key, sizes, _), data)| {
        let dim_order = (0..sizes.len() as u8).collect();
        let layout = DataLayout { scalar_type: ScalarType::Float, sizes: sizes.to_vec(), dim_order };
        DataEntry { key: (*key).into(), data, layout: Some(layout) }
    });
    let mut file = Vec::new();
    write_data(&entries.collect::<Vec<_>>(), &mut file).unwrap();
    file
}

#[test]
fn constants_are_read_from_a_data_file() {
    assert_eq!(run(EXTERNAL, &[DataFile::parse(DATA).unwrap()]), Ok(()));
}

#[test]
fn constants_may_be_in_several_data_files() {
    let factor = data_file(&[("factor", &[3], &[0.5, 0.25, 4.0])]);
    let offset = data_file(&[("offset", &[1, 3], &[1.0, 2.0, 3.0])]);
    let files = [DataFile::parse(&factor).unwrap(), DataFile::parse(&offset).unwrap()];
    assert_eq!(run(EXTERNAL, &files), Ok(()));
}

#[test]
fn a_tensor_that_no_data_file_has_is_not_found() {
    let error = Failure { error: Error::NotFound, place: Place::Value(0) };
    assert_eq!(run(EXTERNAL, &[]), Err(error));
    let other = data_file(&[("offset", &[1, 3], &[1.0, 2.0, 3.0])]);
    assert_eq!(run(EXTERNAL, &[DataFile::parse(&other).unwrap()]), Err(error));
}

#[test]
fn another_type_shape_or_order_is_refused() {
    let offset: (&str, &[i32], &[f32]) = ("offset", &[1, 3], &[0.0; 3]);
    let longer = data_file(&[("factor", &[4], &[0.0; 4]), offset]);
    let deeper = data_file(&[("factor", &[3, 1], &[0.0; 3]), offset]);
    let too_short = data_file(&[("factor", &[3], &[0.0; 2]), offset]);
    for file in [longer, deeper, too_short] {
        let error = Failure { error: Error::InvalidExternalData, place: Place::Value(0) };
        assert_eq!(run(EXTERNAL, &[DataFile::parse(&file).unwrap()]), Err(error));
    }
}

#[test]
fn a_mutable_buffer_may_start_with_a_value_of_a_data_file() {
    let total = |allocation, extra| {
        let tensor = Tensor {
            scalar_type: ScalarType::Float,
            sizes: vec![2],
            dim_order: vec![0],
            data_buffer: 0,
            allocation,
            dynamic: false,
            extra,
        };
        EValue::Tensor(tensor)
    };
    let place = |offset| Some(Allocation { memory_id: 1, offset });
    let name = ExtraTensorInfo { fully_qualified_name: "total".into(), external: true };
    let plan = ExecutionPlan {
        values: vec![total(place(0), None), total(place(16), Some(name)), EValue::Int(1)],
        inputs: vec![0],
        outputs: vec![1],
        chains: vec![Chain {
            instructions: vec![Instruction::KernelCall { operator: 0, arguments: vec![0, 1, 2, 1, 1] }],
        }],
        operators: vec![Operator { name: "aten::add".into(), overload: "out".into() }],
        arena_sizes: vec![32],
        ..ExecutionPlan::default()
    };
    let mut file = Vec::new();
    write_program(&Program { execution_plans: vec![plan], ..Program::default() }, &mut file).unwrap();
    let data = data_file(&[("total", &[2], &[10.0, 20.0])]);
    let run = with_method_and_data(&file, &[DataFile::parse(&data).unwrap()], &[], |method| {
        method.copy_input(0, &bytes(&[1.0, 2.0]))?;
        method.execute()?;
        method.execute()?;
        assert_eq!(output(method, 0), [12.0, 24.0]);
        Ok(())
    });
    assert_eq!(run, Ok(()));
}

#[test]
fn constants_may_be_in_the_flatbuffer() {
    assert_ne!(&OLD[8..12], b"eh00");
    assert_eq!(run(OLD, &[]), Ok(()));
}

#[test]
fn no_changed_byte_makes_the_runtime_panic() {
    let execute = |program: &[u8], data: &[u8]| {
        let Ok(data) = DataFile::parse(data) else { return };
        let _ = with_method_and_data(program, &[data], &[], |method| method.execute_at_most(100));
    };
    let mut data = DATA.to_vec();
    for position in 0..data.len() {
        for change in [0x01, 0x80, 0xff] {
            data[position] ^= change;
            execute(EXTERNAL, &data);
            data[position] ^= change;
        }
    }
    for file in [EXTERNAL, OLD] {
        let mut damaged = file.to_vec();
        for position in 0..damaged.len() {
            for change in [0x01, 0x80, 0xff] {
                damaged[position] ^= change;
                execute(&damaged, DATA);
                damaged[position] ^= change;
            }
        }
    }
}
