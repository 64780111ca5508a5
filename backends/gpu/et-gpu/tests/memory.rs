//! The memory of the device that sessions allocate. One test, because the counts are those of the process.

mod common;

use common::{ADD_WEIGHTS, Memory, Program, call, check_silence, start};
use et_gpu::{DeviceMemory, Kind, Role, faults, peak_memory};

/// in + weights image, with a scratch buffer and a state.
fn program() -> Program {
    let mut program = Program::default();
    let input = program.buffer(Role::Input, 0, 64);
    let weights = program.image(Kind::Image32, Role::Weights, 1, [16, 1, 1]);
    let state = program.buffer(Role::State, 2, 64);
    let scratch = program.buffer(Role::Scratch, 0, 64);
    let output = program.buffer(Role::Output, 3, 64);
    let add = program.kernel(ADD_WEIGHTS);
    program.dispatch(add, [4, 1, 1], &[input, weights], &[scratch]);
    program.dispatch(add, [4, 1, 1], &[scratch, weights], &[state]);
    program.dispatch(add, [4, 1, 1], &[scratch, weights], &[output]);
    program
}

fn execute() -> DeviceMemory {
    let tensors: [Memory; 4] = std::array::from_fn(|_| Memory::of_floats(&[1.0; 64]));
    let session = program().load();
    call(&session, &tensors.each_ref()).unwrap();
    drop(session);
    peak_memory()
}

#[test]
fn memory_counts_by_purpose_while_a_session_has_it() {
    start();
    assert_eq!(peak_memory(), DeviceMemory::default());
    faults::treat_as_discrete(true);
    let first = execute();
    let DeviceMemory { weights, scratch, arguments, states, staging, total, imported } = first;
    assert!([weights, scratch, states, staging].iter().all(|size| *size >= 256) && arguments >= 512, "{first:?}");
    assert!(total >= weights + scratch + arguments && total <= weights + scratch + arguments + states + staging);
    assert_eq!(imported, 0);
    // All memory is given back, so that another session has as much.
    assert_eq!(execute(), first);
    faults::treat_as_discrete(false);
    check_silence();
}
