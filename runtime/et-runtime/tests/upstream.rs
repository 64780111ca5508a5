//! Executes program files of ExecuTorch's exporter, intact and damaged.

mod support;

use et_core::{Error, Tensor, Value};
use et_runtime::{Failure, Place};
use support::{bytes, constant, output, with_method};

const ADD: &[u8] = include_bytes!("../../et-format/tests/data/add.pte");
const BRANCH: &[u8] = include_bytes!("../../et-format/tests/data/branch.pte");
const STATE: &[u8] = include_bytes!("../../et-format/tests/data/state.pte");
const UNPLANNED: &[u8] = include_bytes!("../../et-format/tests/data/unplanned.pte");

#[test]
fn planned_tensors_are_added() {
    let run = with_method(ADD, &[], |method| {
        method.copy_input(0, &bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))?;
        method.copy_input(1, &bytes(&[10.0; 6]))?;
        method.execute()?;
        assert_eq!(output(method, 0), [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]);
        Ok(())
    });
    assert_eq!(run, Ok(()));
}

#[test]
fn a_mutable_buffer_starts_with_its_value_and_keeps_its_state() {
    let run = with_method(STATE, &[], |method| {
        method.copy_input(0, &bytes(&[1.0; 3]))?;
        method.execute()?;
        assert_eq!(output(method, 0), [3.0, 2.75, 18.0]);
        method.copy_input(0, &bytes(&[1.0; 3]))?;
        method.execute()?;
        assert_eq!(output(method, 0), [3.5, 3.0, 22.0]);
        Ok(())
    });
    assert_eq!(run, Ok(()));
}

#[test]
fn an_integer_input_must_equal_the_traced_value() {
    let run = with_method(STATE, &[], |method| {
        assert_eq!(method.set_input(1, &Value::Int(2)), Ok(()));
        assert_eq!(method.set_input(1, &Value::Int(3)), Err(Error::InvalidArgument));
        assert_eq!(method.set_input(1, &Value::Double(2.0)), Err(Error::InvalidType));
        assert_eq!(method.set_input(2, &Value::Int(2)), Err(Error::NotFound));
        Ok(())
    });
    assert_eq!(run, Ok(()));
}

const TWO_BY_TWO: [u8; 8] = [2, 0, 0, 0, 2, 0, 0, 0];
const FIVE_BY_TWO: [u8; 8] = [5, 0, 0, 0, 2, 0, 0, 0];

#[test]
fn a_condition_chooses_the_branch_and_shapes_follow_the_input() {
    let elements = bytes(&[1.0, 2.0, 3.0, 4.0]);
    for (condition, expected) in [(1, [2.0, 4.0, 6.0, 8.0]), (0, [3.0, 6.0, 9.0, 12.0])] {
        let run = with_method(BRANCH, &[], |method| {
            method.copy_input(0, &[condition])?;
            method.set_input(1, &Value::Tensor(two_by_two(&elements)))?;
            method.execute()?;
            assert_eq!(output(method, 0), expected);
            Ok(())
        });
        assert_eq!(run, Ok(()));
    }
}

fn two_by_two(elements: &[u8]) -> Tensor<'_> {
    constant(&TWO_BY_TWO, &[0, 1], elements)
}

#[test]
fn an_input_beyond_its_bounds_is_refused() {
    let elements = bytes(&[0.0; 10]).leak();
    for file in [BRANCH, UNPLANNED] {
        let run = with_method(file, &[], |method| {
            let input = constant(&FIVE_BY_TWO, &[0, 1], elements);
            assert_eq!(method.set_input(1, &Value::Tensor(input)), Err(Error::InvalidArgument));
            Ok(())
        });
        assert_eq!(run, Ok(()));
    }
}

#[test]
fn unplanned_inputs_are_read_in_place() {
    let elements = bytes(&[1.0, 2.0, 3.0, 4.0]).leak();
    let run = with_method(UNPLANNED, &[], |method| {
        method.share_input(0, two_by_two(elements))?;
        method.set_input_memory(1, vec![0; 32].leak())?;
        method.set_input(1, &Value::Tensor(two_by_two(elements)))?;
        method.set_output_memory(0, vec![0; 32].leak())?;
        method.execute()?;
        assert_eq!(output(method, 0), [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(method.input_tensor(0)?.data().cast_const(), elements.as_ptr());
        Ok(())
    });
    assert_eq!(run, Ok(()));
}

#[test]
fn a_tensor_without_memory_is_an_error_with_its_instruction() {
    let run = with_method(UNPLANNED, &[], |method| method.execute());
    assert_eq!(run, Err(Failure { error: Error::AccessFailed, place: Place::Instruction(0) }));
}

#[test]
fn no_changed_byte_makes_the_runtime_panic() {
    let elements = bytes(&[1.0, 2.0, 3.0, 4.0]);
    for file in [ADD, BRANCH, STATE, UNPLANNED] {
        let mut damaged = file.to_vec();
        for position in 0..damaged.len() {
            for change in [0x01, 0x80, 0xff] {
                damaged[position] ^= change;
                let _ = with_method(&damaged, &[], |method| {
                    let _ =
                        (method.copy_input(0, &elements), method.set_input(1, &Value::Tensor(two_by_two(&elements))));
                    method.execute_at_most(100)
                });
                damaged[position] ^= change;
            }
        }
    }
}
