//! The writer's files equal the files of upstream's exporter in every field.

mod describe;

use describe::describe;
use et_core::ScalarType;
use et_format::ProgramFile;
use et_format::write::*;

fn write(program: &Program<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_program(program, &mut bytes).unwrap();
    bytes
}

fn operator(name: &str, overload: &str) -> Operator {
    Operator { name: name.into(), overload: overload.into() }
}

fn call(operator: i32, arguments: &[i32]) -> Instruction {
    Instruction::KernelCall { operator, arguments: arguments.to_vec() }
}

fn vector(length: i32) -> Tensor {
    Tensor {
        scalar_type: ScalarType::Float,
        sizes: vec![length],
        dim_order: vec![0],
        data_buffer: 0,
        allocation: None,
        dynamic: false,
        extra: None,
    }
}

fn planned(offset: u64) -> Tensor {
    Tensor { allocation: Some(Allocation { memory_id: 1, offset }), ..vector(3) }
}

fn scalar(tensor: Tensor) -> Tensor {
    Tensor { sizes: vec![], dim_order: vec![], ..tensor }
}

const WEIGHT: [u8; 12] = [0, 0, 0, 0x3f, 0, 0, 0x80, 0x3e, 0, 0, 0x80, 0x40];
const TWO: [u8; 8] = [2, 0, 0, 0, 0, 0, 0, 0];
const TOTAL: [u8; 12] = [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40];

/// The program in `data/state.pte`, up to `requires_grad` and the padding behind constants, which we do not write.
fn state() -> Program<'static> {
    let leaf = r#"{"type": null, "context": null, "children_spec": []}"#;
    let tuple = format!(r#"{{"type": "builtins.tuple", "context": "null", "children_spec": [{leaf}, {leaf}]}}"#);
    let dict = r#"{"type": "builtins.dict", "context": "[]", "children_spec": []}"#;
    let inputs = format!(r#"[1, {{"type": "builtins.tuple", "context": "null", "children_spec": [{tuple}, {dict}]}}]"#);
    let total = ExtraTensorInfo { fully_qualified_name: "total".into(), external: false };
    let plan = ExecutionPlan {
        name: "forward".into(),
        container: ContainerMetadata { inputs, outputs: format!("[1, {leaf}]") },
        values: vec![
            EValue::Tensor(Tensor { data_buffer: 1, ..vector(3) }),
            EValue::Tensor(Tensor { data_buffer: 1, extra: Some(total), ..planned(64) }),
            EValue::Tensor(Tensor { scalar_type: ScalarType::Long, data_buffer: 2, ..scalar(vector(0)) }),
            EValue::Tensor(planned(0)),
            EValue::Int(2),
            EValue::Tensor(planned(48)),
            EValue::Int(1),
            EValue::Tensor(planned(32)),
            EValue::Tensor(scalar(planned(0))),
            EValue::Bool(false),
            EValue::IntList(vec![]),
            EValue::Tensor(planned(16)),
            EValue::Int(1),
            EValue::Bool(false),
        ],
        inputs: vec![3, 4],
        outputs: vec![11],
        chains: vec![Chain {
            instructions: vec![
                call(0, &[1, 3, 6, 5, 5]),
                call(1, &[5, 0, 7, 7]),
                call(2, &[2, 9, 10, 8, 8]),
                call(0, &[7, 8, 12, 11, 11]),
                call(3, &[1, 5, 13, 1]),
            ],
        }],
        operators: vec![
            operator("aten::add", "out"),
            operator("aten::mul", "out"),
            operator("dim_order_ops::_to_dim_order_copy", "out"),
            operator("aten::copy_", ""),
        ],
        delegates: vec![],
        arena_sizes: vec![80],
    };
    Program {
        execution_plans: vec![plan],
        constants: vec![&WEIGHT, &TWO],
        initial_values: vec![&TOTAL],
        named_data: vec![],
    }
}

#[test]
fn an_equal_program_reads_like_upstreams_file() {
    let bytes = write(&state());
    assert_eq!(describe(&bytes).unwrap(), include_str!("data/state.txt"));
    assert!(bytes.len() <= include_bytes!("data/state.pte").len());
}

#[test]
fn equal_programs_give_equal_bytes() {
    assert_eq!(write(&state()), write(&state()));
}

#[test]
fn values_instructions_and_delegates_of_every_kind_survive() {
    let values = vec![
        EValue::Null,
        EValue::Int(-5),
        EValue::Bool(true),
        EValue::Double(-0.5),
        EValue::Tensor(Tensor {
            dynamic: true,
            allocation: Some(Allocation { memory_id: 2, offset: 5 << 32 }),
            ..vector(7)
        }),
        EValue::String("mean".into()),
        EValue::IntList(vec![1, 1]),
        EValue::DoubleList(vec![0.25, f64::INFINITY]),
        EValue::BoolList(vec![true, false]),
        EValue::TensorList(vec![4, 4]),
        EValue::OptionalTensorList(vec![-1, 4]),
    ];
    let instructions = vec![
        Instruction::DelegateCall { delegate: 1, arguments: vec![4, 4] },
        Instruction::MoveCall { from: 1, to: 2 },
        Instruction::JumpFalseCall { condition: 2, destination: 0 },
        Instruction::FreeCall { value: 4 },
    ];
    let delegate = |id: &str, blob| BackendDelegate {
        id: id.into(),
        blob,
        compile_specs: vec![CompileSpec { key: "level".into(), value: vec![3] }],
    };
    let plan = ExecutionPlan {
        values,
        chains: vec![Chain { instructions }],
        delegates: vec![delegate("A", b"same"), delegate("B", b"same"), delegate("C", b"")],
        arena_sizes: vec![1 << 40],
        ..ExecutionPlan::default()
    };
    let named = |key: &str, data| NamedData { key: key.into(), data, alignment: 16 };
    let program = Program {
        execution_plans: vec![plan],
        named_data: vec![named("a", b"one"), named("b", b"one"), named("c", b"two")],
        ..Program::default()
    };
    assert_eq!(describe(&write(&program)).unwrap(), include_str!("data/every_kind.txt"));
}

#[test]
fn segments_and_constants_are_aligned() {
    let mut program = state();
    program.named_data = vec![NamedData { key: "wide".into(), data: b"bytes", alignment: 1024 }];
    let bytes = write(&program);
    let file = ProgramFile::parse(&bytes).unwrap();
    let position = |part: &[u8]| part.as_ptr() as usize - bytes.as_ptr() as usize;
    let base = position(file.segment(0).unwrap());
    assert_eq!(base % 128, 0);
    assert_eq!((position(file.constant(2, 8).unwrap()) - base) % 16, 0);
    assert_eq!((position(file.segment(1).unwrap()) - base) % 128, 0);
    assert_eq!((position(file.named_data("wide").unwrap()) - base) % 1024, 0);
}

#[test]
fn a_program_without_data_has_no_header() {
    let bytes = write(&Program::default());
    assert!(ProgramFile::parse(&bytes).is_ok());
    assert_ne!(&bytes[8..12], b"eh00");
}

#[test]
fn golden_bytes() {
    let plan = ExecutionPlan {
        name: "f".into(),
        values: vec![EValue::Int(258)],
        chains: vec![Chain { instructions: vec![Instruction::FreeCall { value: 0 }] }],
        ..ExecutionPlan::default()
    };
    let program = Program { execution_plans: vec![plan], constants: vec![b"constant"], ..Program::default() };
    let hexadecimal: Vec<String> = write(&program)
        .chunks(16)
        .map(|row| row.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(hexadecimal.join("\n") + "\n", include_str!("data/golden.hex"));
}
