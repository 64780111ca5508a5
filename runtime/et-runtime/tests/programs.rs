//! Programs for one fact each: every instruction, delegates, and malformed files.

mod support;

use std::cell::Cell;

use et_core::{Args, Error, Result, ScalarType};
use et_format::write::*;
use et_runtime::{Delegate, DelegateSetup, Events, Failure, Method, Place, Position, Step};
use support::{bytes, output, with_method};

fn tensor(sizes: &[i32], data_buffer: u32, offset: Option<u64>) -> EValue {
    EValue::Tensor(Tensor {
        scalar_type: ScalarType::Float,
        sizes: sizes.to_vec(),
        dim_order: (0..sizes.len() as u8).collect(),
        data_buffer,
        allocation: offset.map(|offset| Allocation { memory_id: 1, offset }),
        dynamic: false,
        extra: None,
    })
}

/// A program with two planned vectors of 2 elements, values 0 and 1, and the constant vector `[3, 4]`, value 2.
fn program(more_values: Vec<EValue>, instructions: Vec<Instruction>) -> Program<'static> {
    let mut values = vec![tensor(&[2], 0, Some(0)), tensor(&[2], 0, Some(16)), tensor(&[2], 1, None)];
    values.extend(more_values);
    let plan = ExecutionPlan {
        values,
        inputs: vec![0],
        outputs: vec![1],
        chains: vec![Chain { instructions }],
        operators: vec![
            Operator { name: "aten::copy_".into(), overload: String::new() },
            Operator { name: "aten::add".into(), overload: "out".into() },
        ],
        arena_sizes: vec![32],
        ..ExecutionPlan::default()
    };
    Program {
        execution_plans: vec![plan],
        constants: vec![&[0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40]],
        ..Program::default()
    }
}

fn run_with(
    program: &Program<'_>,
    delegates: &[&dyn for<'a> Delegate<'a>],
    test: impl FnOnce(&Method<'_>),
) -> core::result::Result<(), Failure> {
    let mut file = Vec::new();
    write_program(program, &mut file).unwrap();
    let (mut followed, mut stepped) = (None, None);
    let result = with_method(&file, delegates, |method| {
        method.copy_input(0, &bytes(&[1.0, 2.0]))?;
        method.execute_at_most(1000)?;
        followed = Some(output(method, 0));
        test(method);
        Ok(())
    });
    let ahead = with_method(&file, delegates, |method| {
        method.copy_input(0, &bytes(&[1.0, 2.0]))?;
        let steps: Vec<Step<'_>> = method.steps()?.collect();
        assert_eq!(steps.len(), method.plan().plan().chains()?.get(0)?.instruction_count()?);
        method.execute_steps(&steps)?;
        stepped = Some(output(method, 0));
        Ok(())
    });
    assert_eq!((ahead, stepped), (result, followed), "instructions that are read ahead of time");
    result
}

fn run(program: &Program<'_>) -> core::result::Result<(), Failure> {
    run_with(program, &[], |_| ())
}

fn call(operator: i32, arguments: &[i32]) -> Instruction {
    Instruction::KernelCall { operator, arguments: arguments.to_vec() }
}

fn at_instruction(error: Error, index: u32) -> core::result::Result<(), Failure> {
    Err(Failure { error, place: Place::Instruction(index) })
}

fn at_value(error: Error, index: u32) -> core::result::Result<(), Failure> {
    Err(Failure { error, place: Place::Value(index) })
}

#[test]
fn a_kernel_reads_a_constant() {
    let program = program(vec![EValue::Int(1)], vec![call(1, &[0, 2, 3, 1, 1])]);
    assert_eq!(run_with(&program, &[], |method| assert_eq!(output(method, 0), [4.0, 6.0])), Ok(()));
}

#[test]
fn a_constant_cannot_be_written() {
    let program = program(vec![], vec![call(0, &[2, 0])]);
    assert_eq!(run(&program), at_instruction(Error::AccessFailed, 0));
}

#[test]
fn a_move_replaces_a_value() {
    let program = program(vec![], vec![Instruction::MoveCall { from: 2, to: 1 }]);
    assert_eq!(run_with(&program, &[], |method| assert_eq!(output(method, 0), [3.0, 4.0])), Ok(()));
}

#[test]
fn a_jump_skips_when_the_condition_is_false() {
    for (condition, expected) in [(true, 3.0), (false, 0.0)] {
        let jump = Instruction::JumpFalseCall { condition: 3, destination: 2 };
        let program = program(vec![EValue::Bool(condition)], vec![jump, call(0, &[1, 2])]);
        assert_eq!(run_with(&program, &[], |method| assert_eq!(output(method, 0)[0], expected)), Ok(()));
    }
}

#[test]
fn freed_memory_cannot_be_used() {
    let program = program(vec![], vec![Instruction::FreeCall { value: 0 }, call(0, &[1, 0])]);
    assert_eq!(run(&program), at_instruction(Error::AccessFailed, 1));
}

#[test]
fn an_endless_loop_ends() {
    let again = Instruction::JumpFalseCall { condition: 3, destination: 0 };
    let program = program(vec![EValue::Bool(false)], vec![again]);
    assert_eq!(run(&program), at_instruction(Error::OutOfResources, 0));
}

#[test]
fn indices_beyond_their_tables_are_errors() {
    let malformed = [
        call(2, &[0]),
        call(-1, &[0]),
        call(0, &[1, 7]),
        call(0, &[1, -1]),
        Instruction::DelegateCall { delegate: 0, arguments: vec![] },
        Instruction::MoveCall { from: 3, to: 0 },
        Instruction::MoveCall { from: 0, to: i32::MIN },
        Instruction::FreeCall { value: 99 },
        Instruction::JumpFalseCall { condition: 99, destination: 0 },
    ];
    for instruction in malformed {
        let failed = run(&program(vec![], vec![instruction.clone()]));
        assert_eq!(failed, at_instruction(Error::InvalidProgram, 0), "{instruction:?}");
    }
}

#[test]
fn a_jump_beyond_the_chain_is_an_error() {
    for destination in [2, i32::MAX, -1] {
        let jump = Instruction::JumpFalseCall { condition: 3, destination };
        let failed = run(&program(vec![EValue::Bool(false)], vec![jump]));
        assert_eq!(failed, at_instruction(Error::InvalidProgram, 0), "{destination}");
    }
}

#[test]
fn a_condition_must_be_a_boolean() {
    let jump = Instruction::JumpFalseCall { condition: 0, destination: 0 };
    assert_eq!(run(&program(vec![], vec![jump])), at_instruction(Error::InvalidType, 0));
}

#[test]
fn tensors_outside_their_memory_are_refused() {
    let malformed = [
        tensor(&[2], 0, Some(32)),
        tensor(&[2], 0, Some(28)),
        tensor(&[2], 0, Some(u64::MAX)),
        tensor(&[2], 0, Some(u64::MAX - 7)),
        tensor(&[3], 1, None),
        tensor(&[2], 2, None),
        tensor(&[2], u32::MAX, None),
        tensor(&[2], 1, Some(0)),
    ];
    for value in malformed {
        assert_eq!(run(&program(vec![value.clone()], vec![])), at_value(Error::InvalidProgram, 3), "{value:?}");
    }
}

#[test]
fn sizes_that_overflow_are_refused() {
    let vast = [vec![i32::MAX, 2], vec![-1], vec![1 << 16, 1 << 16], vec![1; 17]];
    for sizes in vast {
        assert_eq!(run(&program(vec![tensor(&sizes, 0, None)], vec![])), at_value(Error::InvalidArgument, 3));
    }
}

#[test]
fn an_arena_number_beyond_the_arenas_is_refused() {
    for memory_id in [0, 2, u32::MAX] {
        let mut lost = tensor(&[2], 0, Some(0));
        if let EValue::Tensor(tensor) = &mut lost {
            tensor.allocation = Some(Allocation { memory_id, offset: 0 });
        }
        assert_eq!(run(&program(vec![lost], vec![])), at_value(Error::InvalidProgram, 3));
    }
}

/// Doubles its input, and stores its blob's length.
#[derive(Default)]
struct Doubler {
    blob_length: Cell<usize>,
}

impl<'a> Delegate<'a> for Doubler {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        if setup.compile_specs.get(0)?.key()? != "factor" {
            return Err(Error::DelegateInvalidCompatibility);
        }
        self.blob_length.set(setup.blob.len());
        Ok(())
    }

    fn execute(&self, args: &Args<'a, '_>) -> Result<()> {
        let (input, output) = (args.tensor(0)?.input::<f32>()?, args.tensor(1)?.output::<f32>()?);
        input.iter().enumerate().for_each(|(index, value)| output.set(index, 2.0 * value));
        Ok(())
    }
}

fn delegated(key: &str) -> Program<'static> {
    let mut program = program(vec![], vec![Instruction::DelegateCall { delegate: 0, arguments: vec![0, 1] }]);
    program.execution_plans[0].delegates = vec![BackendDelegate {
        id: "Doubler".into(),
        blob: b"blob",
        compile_specs: vec![CompileSpec { key: key.into(), value: vec![2] }],
    }];
    program
}

#[test]
fn a_delegate_is_prepared_and_called() {
    let doubler = Doubler::default();
    let run = run_with(&delegated("factor"), &[&doubler], |method| assert_eq!(output(method, 0), [2.0, 4.0]));
    assert_eq!((run, doubler.blob_length.get()), (Ok(()), 4));
}

#[test]
fn a_delegate_that_refuses_its_blob_is_named() {
    let refused = Failure { error: Error::DelegateInvalidCompatibility, place: Place::Delegate(0) };
    assert_eq!(run_with(&delegated("other"), &[&Doubler::default()], |_| ()), Err(refused));
}

#[test]
fn a_program_with_a_delegate_does_not_load_without_it() {
    assert_eq!(run(&delegated("factor")), Err(Error::NotFound.into()));
}

/// Notes every event, and ends the execution after an instruction.
#[derive(Default)]
struct Noting {
    heard: Vec<(bool, Position)>,
    ends_after: Option<u32>,
}

impl Events for Noting {
    fn begin(&mut self, at: Position) {
        self.heard.push((true, at));
    }

    fn end(&mut self, at: Position) -> Result<()> {
        self.heard.push((false, at));
        if self.ends_after == Some(at.instruction) { Err(Error::InvalidState) } else { Ok(()) }
    }
}

#[test]
fn a_listener_hears_the_begin_and_the_end_of_each_instruction_and_may_end_the_execution() {
    let copy = || call(0, &[1, 2, 0, 1]);
    let mut file = Vec::new();
    write_program(&program(vec![], vec![copy(), copy(), copy()]), &mut file).unwrap();
    let (mut whole, mut ended) = (Noting::default(), Noting { ends_after: Some(1), ..Noting::default() });
    let result = with_method(&file, &[], |method| {
        let steps: Vec<Step<'_>> = method.steps()?.collect();
        method.execute_steps_heard(&steps, &mut whole)?;
        assert_eq!(method.execute_steps_heard(&steps, &mut ended).unwrap_err().place, Place::Instruction(1));
        Ok(())
    });
    assert_eq!(result, Ok(()));
    let both = |instruction| [true, false].map(|begins| (begins, Position { chain: 0, instruction }));
    assert_eq!(whole.heard, [both(0), both(1), both(2)].concat());
    assert_eq!(ended.heard, [both(0), both(1)].concat());
}

#[test]
fn a_failed_instruction_has_no_end() {
    let mut file = Vec::new();
    write_program(&program(vec![], vec![call(0, &[1, 2, 0, 1]), call(7, &[])]), &mut file).unwrap();
    let mut heard = Noting::default();
    let result = with_method(&file, &[], |method| {
        let steps: Vec<Step<'_>> = method.steps()?.collect();
        method.execute_steps_heard(&steps, &mut heard)
    });
    assert_eq!(result.unwrap_err().place, Place::Instruction(1));
    assert_eq!(heard.heard.len(), 3);
}
