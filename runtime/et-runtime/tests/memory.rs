//! A method lives in the memory that it is given, or refuses it.

use std::cell::Cell;

use et_core::{Args, Error, Kernel, Value};
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
    let memory = Memory { values: &values, arenas: &arenas, sizes: &mut [] };
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

#[test]
fn every_operator_needs_a_kernel() {
    assert_eq!(load(4, 0, 0..96), Err(Error::OperatorMissing));
}

#[test]
fn requirements_are_those_of_the_file() {
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
