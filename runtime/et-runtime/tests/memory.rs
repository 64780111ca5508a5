//! A method uses the supplied memory, or rejects insufficient memory.

use std::cell::Cell;

use et_core::{Args, Error, Kernel, ScalarType, Value};
use et_format::write::{self, Allocation, EValue, ExecutionPlan, ExtraTensorInfo, Tensor};
use et_runtime::{Memory, Method, Program};

const ADD: &[u8] = include_bytes!("../../et-format/tests/data/add.pte");
const BRANCH: &[u8] = include_bytes!("../../et-format/tests/data/branch.pte");

#[repr(align(16))]
struct Aligned([u8; 112]);

/// Loads the addition with this many values and kernels, and an arena of this part of an aligned block.
fn load(values: usize, kernels: usize, arena: core::ops::Range<usize>) -> Result<(), Error> {
    let mut block = Aligned([0; 112]);
    let values = vec![Cell::new(Value::None); values];
    let kernels: Vec<Kernel> = vec![|_: &Args<'_, '_>| Ok(()); kernels];
    let arenas = [Cell::from_mut(&mut block.0[arena]).as_slice_of_cells()];
    let memory = Memory { values: &values, arenas: &arenas, sizes: &mut [], holds_state: false };
    let plan = Program::new(ADD)?.method("forward")?;
    Method::load(plan, &kernels, &[], memory).map(drop).map_err(|failure| failure.error)
}

#[test]
fn memory_must_be_as_large_and_aligned_as_required() {
    assert_eq!(load(4, 1, 0..96), Ok(()));
    assert_eq!(load(3, 1, 0..96), Err(Error::MemoryAllocationFailed));
    assert_eq!(load(4, 1, 0..95), Err(Error::MemoryAllocationFailed));
    assert_eq!(load(4, 1, 4..100), Err(Error::InvalidArgument));
}

/// Planned memory with a name is state without an initial value. Existing state in the memory is kept.
#[test]
fn only_state_without_an_initial_value_is_zeroed() {
    let planned = |offset, name: Option<&str>| {
        EValue::Tensor(Tensor {
            scalar_type: ScalarType::Byte,
            sizes: vec![32],
            dim_order: vec![0],
            data_buffer: 0,
            allocation: Some(Allocation { memory_id: 1, offset }),
            dynamic: false,
            extra: name.map(|name| ExtraTensorInfo { fully_qualified_name: name.into(), external: false }),
        })
    };
    let values = vec![planned(0, None), planned(32, Some("state"))];
    let plan = ExecutionPlan { values, arena_sizes: vec![112], ..ExecutionPlan::default() };
    let mut file = Vec::new();
    write::write_program(&write::Program { execution_plans: vec![plan], ..write::Program::default() }, &mut file)
        .unwrap();
    for (holds_state, expected) in [(false, 32..64), (true, 0..0)] {
        let mut block = Aligned([7; 112]);
        let values = [const { Cell::new(Value::None) }; 2];
        let cells = Cell::from_mut(&mut block.0[..]).as_slice_of_cells();
        let arenas = [cells];
        let memory = Memory { values: &values, arenas: &arenas, sizes: &mut [], holds_state };
        Method::load(Program::new(&file).unwrap().method_at(0).unwrap(), &[], &[], memory).unwrap();
        let zeros: Vec<usize> = (0..112).filter(|index| cells[*index].get() == 0).collect();
        assert_eq!(zeros, expected.collect::<Vec<_>>());
    }
}

#[test]
fn every_operator_needs_a_kernel() {
    assert_eq!(load(4, 0, 0..96), Err(Error::OperatorMissing));
}

#[test]
fn memory_requirements_equal_the_files() {
    let add = Program::new(ADD).unwrap().method("forward").unwrap();
    let needs = add.requirements().unwrap();
    assert_eq!((needs.values, needs.arenas, needs.sizes), (4, 1, 0));
    assert_eq!(add.arena_size(0), Ok(96));
    assert_eq!(add.arena_size(1), Err(Error::NotFound));
    let branch = Program::new(BRANCH).unwrap().method_at(0).unwrap().requirements().unwrap();
    assert_eq!((branch.values, branch.sizes), (14, 2 * (2 + 1 + 2 + 1 + 1 + 1)));
}

#[test]
fn a_method_that_the_program_lacks_is_not_found() {
    assert_eq!(Program::new(ADD).unwrap().method("backward").err(), Some(Error::NotFound));
}

#[test]
fn a_value_takes_four_words() {
    assert!(size_of::<Value<'_>>() <= 4 * size_of::<usize>().max(4));
}
